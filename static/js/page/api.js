// @ts-check
/**
 * The server, as the page uses it.
 *
 * A refusal with its reasons is a `Problem`; no answer is an `Unreachable`; an answer that makes no sense, or the
 * server's own fault, is a `ServerFailure`. What is returned has the shape that it should have.
 */

/** @typedef {import('../ui/view.js').Fault} Fault */
/** @typedef {import('../core/scenario/edits.js').Scenario} Scenario */

export class Unreachable extends Error {}

/** The server answered, but not with anything that can be used. */
export class ServerFailure extends Unreachable {}

export class Problem extends Error {
  /** @param {any} body problem+json */
  constructor(body) {
    super([body.detail, body.title].find((text) => typeof text === 'string') ?? '');
    /** @type {number} */
    this.status = Number.isInteger(body.status) ? body.status : 400;
    /** @type {Fault[]} */
    this.faults = (Array.isArray(body.errors) ? body.errors : [])
      .filter((/** @type {any} */ fault) => isObject(fault) && typeof fault.message === 'string')
      .map((/** @type {any} */ fault) => ({ ...fault, where: String(fault.where ?? ''), code: String(fault.code ?? '') }));
  }

  /** In words, whatever the server said. */
  get reasons() {
    return this.faults.length > 0 ? this.faults : [{ where: '', code: String(this.status), message: this.message }];
  }
}

export class Api {
  /**
   * @param {string} root path that the server is reached under
   * @param {string} lang
   */
  constructor(root, lang) {
    this.root = root;
    this.lang = lang;
  }

  /**
   * @param {Scenario} scenario
   * @param {{first?: number, last?: number}} window
   * @returns {Promise<any>}
   */
  trace(scenario, window) {
    const query = new URLSearchParams({ lang: this.lang });
    for (const [name, value] of Object.entries(window)) query.set(name, String(value));
    return this.#ask(`api/trace?${query}`, isTrace, post(scenario));
  }

  /** @returns {Promise<import('../core/gallery.js').Example[]>} */
  examples() {
    return this.#ask(
      `api/examples?lang=${this.lang}`,
      (body) =>
        Array.isArray(body) &&
        body.every(
          (one) => isObject(one) && typeof one.name === 'string' && isObject(one.size) && Array.isArray(one.sketch),
        ),
    );
  }

  /** @returns {Promise<import('../core/glossary.js').Term[]>} */
  async glossary() {
    return (await this.#ask(`api/glossary?lang=${this.lang}`, (body) => isObject(body) && Array.isArray(body.terms))).terms;
  }

  /**
   * @param {Scenario} scenario
   * @returns {Promise<{charts: import('../ui/charts/charts.js').Chart[], script: import('./features/charts.js').Script}>}
   */
  charts(scenario) {
    return this.#ask(
      `api/charts?lang=${this.lang}`,
      (body) => isObject(body) && Array.isArray(body.charts) && isObject(body.script),
      post(scenario),
    );
  }

  /** @param {string} name @returns {Promise<any>} */
  example(name) {
    return this.#ask(
      `api/examples/${encodeURIComponent(name)}?lang=${this.lang}`,
      (body) => isObject(body) && Array.isArray(body.requests) && Array.isArray(body.steps),
    );
  }

  /** Has the server keep a scenario. @param {Scenario} scenario @returns {Promise<{id: string, url: string}>} */
  shorten(scenario) {
    return this.#ask(`api/links?lang=${this.lang}`, (body) => isObject(body) && typeof body.id === 'string', post(scenario));
  }

  /** @param {string} id of a short link @returns {Promise<any>} */
  shortened(id) {
    return this.#ask(
      `api/links/${encodeURIComponent(id)}?lang=${this.lang}`,
      (body) => isObject(body) && Array.isArray(body.requests) && Array.isArray(body.steps),
    );
  }

  /**
   * @param {string} path
   * @param {(body: any) => boolean} isWhole whether the answer has its shape
   * @param {RequestInit} [init]
   */
  async #ask(path, isWhole, init) {
    let response;
    let text;
    try {
      response = await fetch(`${this.root}/${path}`, init);
      text = await response.text();
    } catch {
      throw new Unreachable();
    }
    if (response.status >= 502 && response.status <= 504) throw new Unreachable(); // a proxy says so
    let body;
    try {
      body = JSON.parse(text);
    } catch {
      throw new ServerFailure();
    }
    if (response.ok) {
      if (!isWhole(body)) throw new ServerFailure();
      return body;
    }
    if (response.status >= 500 || !isObject(body)) throw new ServerFailure();
    const problem = new Problem({ status: response.status, ...body });
    if (problem.reasons.every(({ message }) => message === '')) throw new ServerFailure();
    throw problem;
  }
}

/** @param {unknown} body @returns {RequestInit} */
function post(body) {
  return { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

/** @param {any} value */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @param {any} body */
function isTrace(body) {
  return (
    isObject(body) &&
    Array.isArray(body.summary) &&
    Array.isArray(body.steps) &&
    body.steps.every(
      (/** @type {any} */ step) =>
        isObject(step) && Number.isInteger(step.index) && isObject(step.spaces) && Array.isArray(step.req_ids),
    ) &&
    (body.stopped === null || body.stopped === undefined || (isObject(body.stopped) && Number.isInteger(body.stopped.step)))
  );
}
