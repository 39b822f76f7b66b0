// @ts-check
/** The way to what is wanted: answers come in any order, late or not at all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem, ServerFailure, Unreachable } from '../../static/js/page/api.js';
import { Course } from '../../static/js/page/state/course.js';

/**
 * A trace whose steps arrive when the test says so.
 * @param {string} name
 * @param {number} numSteps
 * @param {number[]} there
 */
function fake(name, numSteps, there = []) {
  const steps = new Set(there);
  /** @type {{index: number, answer: (error?: Error) => Promise<void>}[]} */
  const asked = [];
  return {
    name,
    numSteps,
    asked,
    get isLoaded() {
      return steps.size > 0;
    },
    has: (/** @type {number} */ index) => steps.has(index),
    load: (/** @type {number} */ index) =>
      new Promise((resolve, reject) => {
        const answer = async (/** @type {Error | undefined} */ error) => {
          if (!error) steps.add(index);
          if (error) reject(error);
          else resolve(undefined);
          await settled();
        };
        asked.push({ index, answer });
      }),
  };
}

const STAGES = ['schedule', 'compute', 'update'];
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

/** @param {any} board */
function courseOf(board) {
  /** @type {any} */
  const said = { refused: [], missed: [], arrived: 0 };
  const course = new Course(board, STAGES, {
    changed: () => {},
    arrived: () => (said.arrived += 1),
    refused: (problem, isDraft) => said.refused.push([problem.message, isDraft]),
    missed: (error, again) => said.missed.push({ error, again }),
  });
  return { course, said, now: () => [/** @type {any} */ (course.board).name, course.index, course.stage, course.isBusy] };
}

test('a step change while an edit is in the air goes to the edited schedule', async () => {
  const board = fake('old', 60, [0, 30]);
  const next = fake('new', 60);
  const { course, now } = courseOf(board);
  course.follow(/** @type {any} */ (next));
  await settled();
  course.go({ step: 30 });
  assert.deepEqual(now(), ['old', 0, 'schedule', true]);
  await next.asked[0].answer();
  assert.deepEqual(now(), ['old', 0, 'schedule', true], 'step 30 of the new schedule is not there yet');
  await next.asked[1].answer();
  assert.deepEqual(now(), ['new', 30, 'schedule', false]);
  assert.deepEqual(
    next.asked.map(({ index }) => index),
    [0, 30],
  );
});

test('a refused edit is said, and the step asked for is shown on the board that stays', async () => {
  const board = fake('old', 60, [0]);
  const next = fake('new', 60);
  const { course, said, now } = courseOf(board);
  course.follow(/** @type {any} */ (next));
  await settled();
  course.go({ step: 30 });
  await next.asked[0].answer(new Problem({ status: 422, detail: 'no' }));
  assert.deepEqual(said.refused, [['no', true]]);
  await board.asked[0].answer();
  assert.deepEqual(now(), ['old', 30, 'schedule', false]);
  assert.equal(course.next, null);
});

test('of two edits the later one counts, in whatever order the answers come', async () => {
  const [first, second] = [fake('first', 2), fake('second', 2)];
  const { course, said, now } = courseOf(fake('old', 2, [0]));
  course.follow(/** @type {any} */ (first));
  await settled();
  course.follow(/** @type {any} */ (second));
  await settled();
  await second.asked[0].answer();
  assert.deepEqual(now(), ['second', 0, 'schedule', false]);
  await first.asked[0].answer(new Problem({ status: 422, detail: 'no' }));
  assert.deepEqual([now(), said.refused], [['second', 0, 'schedule', false], []]);
});

test('once another schedule is wanted, nothing more is asked of the one before', async () => {
  const [first, second] = [fake('first', 60), fake('second', 60)];
  const { course, now } = courseOf(fake('old', 60, [0]));
  course.follow(/** @type {any} */ (first));
  await settled();
  course.follow(/** @type {any} */ (second));
  course.go({ step: 40 });
  await settled();
  await first.asked[0].answer(); // step 0, which nobody wants any more
  assert.deepEqual([first.asked.length, now()], [1, ['old', 0, 'schedule', true]]);
  await second.asked[0].answer();
  assert.deepEqual(now(), ['second', 40, 'schedule', false]);
});

test('another scenario on the board is not moved by what was asked for before', async () => {
  const [board, next, other] = [fake('old', 60, [0]), fake('next', 60), fake('other', 60, [2])];
  const { course, said, now } = courseOf(board);
  course.go({ step: 40 });
  await settled();
  course.show(/** @type {any} */ (other), { step: 2, stage: 'compute' });
  await board.asked[0].answer();
  assert.deepEqual([now(), said.arrived], [['other', 2, 'compute', false], 0]);
  course.follow(/** @type {any} */ (next));
  await settled();
  course.show(/** @type {any} */ (board), { step: 0, stage: 'update' });
  await next.asked[0].answer();
  assert.deepEqual([now(), said.arrived, course.next], [['old', 0, 'update', false], 0, null]);
  assert.equal(course.head, board);
});

test('an edit that is taken back leaves the board as it is', async () => {
  const [board, next, another] = [fake('old', 60, [0]), fake('new', 60), fake('another', 60)];
  const { course, now } = courseOf(board);
  course.follow(/** @type {any} */ (next));
  await settled();
  course.follow(/** @type {any} */ (board));
  assert.deepEqual([now(), course.next], [['old', 0, 'schedule', false], null]);
  await next.asked[0].answer();
  assert.deepEqual(now(), ['old', 0, 'schedule', false]);
  course.follow(/** @type {any} */ (another));
  course.go({ step: 30 });
  course.follow(/** @type {any} */ (board));
  assert.deepEqual([now(), course.next], [['old', 0, 'schedule', true], null], 'nor is it one while a step is on its way');
});

test('another stage of the step on the board is shown while an edit is in the air', async () => {
  const next = fake('new', 60);
  const { course, now } = courseOf(fake('old', 60, [0]));
  course.follow(/** @type {any} */ (next));
  await settled();
  course.go({ stage: 'update' });
  assert.deepEqual(now(), ['old', 0, 'update', true]);
  course.go({ step: 1, stage: 'compute' });
  assert.deepEqual(now(), ['old', 0, 'update', true], 'that of a step which is not there yet is not');
});

test('a late step does not override a newer wish, at hand or not', async () => {
  const board = fake('board', 60, [0, 1]);
  const { course, now } = courseOf(board);
  course.go({ step: 40 });
  await settled();
  course.go({ step: 1 });
  assert.deepEqual(now(), ['board', 1, 'schedule', false]);
  await board.asked[0].answer();
  assert.deepEqual(now(), ['board', 1, 'schedule', false]);
});

test('held keys count from the place wanted last, and only that is fetched', async () => {
  const board = fake('board', 60, [0]);
  const { course, now } = courseOf(board);
  for (let press = 0; press < 30; press += 1) course.go({ step: course.place.step + 1 });
  await settled();
  assert.deepEqual(
    board.asked.map(({ index }) => index),
    [30],
  );
  for (let press = 0; press < 50; press += 1) course.go({ step: course.place.step + 1 });
  course.go({ stage: 'update' });
  await board.asked[0].answer();
  assert.deepEqual(
    board.asked.map(({ index }) => index),
    [30, 59],
  );
  await board.asked[1].answer();
  assert.deepEqual(now(), ['board', 59, 'update', false]);
});

test('without an answer the board stays, steps at hand can be seen, and it can be tried again', async () => {
  const board = fake('old', 9, [0, 1]);
  const next = fake('new', 9);
  const { course, said, now } = courseOf(board);
  course.follow(/** @type {any} */ (next));
  await settled();
  course.go({ step: 1 });
  await next.asked[0].answer(new ServerFailure());
  assert.deepEqual(now(), ['old', 1, 'schedule', false]);
  assert.ok(said.missed[0].error instanceof Unreachable);
  assert.equal(course.next, next, 'the edit is not forgotten');
  said.missed[0].again();
  await settled();
  await next.asked[1].answer();
  assert.deepEqual(now(), ['new', 1, 'schedule', false]);
});

test('a step that cannot be had leaves the reader where they are', async () => {
  const board = fake('board', 60, [0]);
  const { course, said, now } = courseOf(board);
  course.go({ step: 40 });
  await settled();
  await board.asked[0].answer(new Unreachable());
  assert.deepEqual(now(), ['board', 0, 'schedule', false]);
  assert.equal(course.place.step, 0);
  said.missed[0].again();
  await settled();
  assert.equal(board.asked[1].index, 40);
});

test('stages run over into the neighbouring step, and end where the steps end', () => {
  const { course } = courseOf(fake('board', 2, [0, 1]));
  assert.equal(course.beside(-1), null);
  course.go({ stage: 'update' });
  assert.deepEqual(course.beside(1), { step: 1, stage: 'schedule' });
  course.go({ step: 1 });
  assert.equal(course.beside(1), null);
  assert.deepEqual(course.beside(-1), { step: 1, stage: 'compute' });
});
