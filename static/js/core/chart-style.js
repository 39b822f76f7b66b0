// @ts-check
/**
 * A figure of the server in the page's colours.
 *
 * In: a plotly figure whose traces say what they stand for (`meta.role`), the page's colours, who looks how, the step
 * on screen. Out: data and layout to draw. Numbers and words are left as they are.
 */
import { COLOURS } from './identity.js';

/** @typedef {{data: any[], layout: Record<string, any>}} Figure */
/** @typedef {Record<string, string>} Colours  token -> rgb(...) */
/**
 * @typedef {object} Dress
 * @property {Colours} colours
 * @property {string} sans
 * @property {string} mono
 * @property {Map<string, import('./identity.js').Identity>} identities
 * @property {number} step  the one on screen
 * @property {number} width  CSS pixels
 */

/** Steps narrower than this, in CSS pixels, touch each other, and one line marks the step on screen. */
const NARROW = 8;

/** Tokens that figures are drawn with. */
export const TOKENS = [
  'paper',
  'raise',
  'sunk',
  'ink',
  'soft',
  'faint',
  'line',
  'line-strong',
  'edge',
  'walk',
  'pin',
  ...Array.from({ length: COLOURS }, (_, index) => [`c${index}`, `c${index}-ink`]).flat(),
];

/** The six hatches of request.css, as plotly names them. */
const HATCHES = ['.', '\\', '|', '/', '-', '+'];

/** A map's colours in the order of its scale: kinds of rows, then twelve requests. */
const KINDS = ['free', 'stale', 'null', 'several'];

/** @param {Figure} figure @param {Dress} dress @returns {Figure} */
export function dressed(figure, dress) {
  const isNarrow = isNarrowStep(figure.layout, dress.width);
  const data = figure.data.map((trace) => dressedTrace(trace, dress));
  if (isNarrow) for (const trace of data) if (trace.orientation !== 'h' && trace.marker) trace.marker.line = { width: 0 };
  return {
    data,
    layout: {
      ...dressedLayout(figure.layout, dress),
      ...(isNarrow ? { bargap: 0 } : {}),
      shapes: stepMark(figure.layout, dress),
    },
  };
}

/** @param {Record<string, any>} layout @param {number} width */
function isNarrowStep(layout, width) {
  const { range } = layout.xaxis;
  return (width - layout.margin.l - layout.margin.r) / (range[1] - range[0]) < NARROW;
}

/** @param {any} trace @param {Dress} dress */
function dressedTrace(trace, dress) {
  if (trace.meta.role === 'owners') return dressedMap(trace, dress);
  if (trace.meta.role === 'owner') return owner(trace, dress);
  const { colours, identities, mono } = dress;
  /** @type {{text?: string[]}} */
  const more =
    trace.meta.role === 'null'
      ? { text: trace.y.map(() => '∅') }
      : trace.meta.last_owners
        ? { text: trace.meta.last_owners.map((/** @type {string} */ name) => escaped(identities.get(name)?.letter ?? '')) }
        : {};
  return {
    ...trace,
    ...more,
    marker: markerOf(trace.meta.role, colours),
    textposition: 'inside',
    insidetextanchor: 'start',
    textangle: 0,
    insidetextfont: { color: colours.soft, family: mono, size: 12 },
  };
}

/**
 * Solid is what counts most, hatched what comes on top of it, an outline what is not there.
 * @param {string} role
 * @param {Colours} colours
 */
export function markerOf(role, colours) {
  const outline = (/** @type {string} */ color, width = 1) => ({ color, width });
  const hatched = (/** @type {string} */ shape, /** @type {string} */ ink, /** @type {string} */ ground) => ({
    color: ground,
    line: outline(ink),
    pattern: { shape, fgcolor: ink, bgcolor: ground, size: 5, solidity: 0.22 },
  });
  switch (role) {
    case 'prefill':
    case 'filled':
      return { color: colours.edge, line: outline(colours.edge) };
    case 'decode':
    case 'used':
      return { color: colours.ink, line: outline(colours.ink) };
    case 'draft':
      return hatched('/', colours.ink, colours.paper);
    case 'padding':
      return hatched('.', colours.edge, colours.paper);
    case 'waste':
      return hatched('/', colours.edge, colours.paper);
    case 'stale':
      return {
        color: colours.paper,
        line: outline(colours['line-strong']),
        pattern: { shape: 'x', fgcolor: colours.edge, bgcolor: colours.paper, size: 6, solidity: 0.1 },
      };
    case 'null':
      return { color: colours.line, line: outline(colours['line-strong']) };
    default:
      return { color: colours.line, line: outline(colours.edge) };
  }
}

/** @param {any} trace @param {Dress} dress */
function owner(trace, { colours, identities, mono }) {
  const identity = identities.get(trace.meta.req_id);
  const [fill, ink] = identity
    ? [colours[`c${identity.colour}`], colours[`c${identity.colour}-ink`]]
    : [colours.sunk, colours.ink];
  return {
    ...trace,
    text: trace.text.map((/** @type {string} */ others) => escaped(identity?.letter ?? '') + others),
    textposition: 'inside',
    insidetextanchor: 'start',
    textangle: 0,
    insidetextfont: { color: ink, family: mono, size: 12, weight: 700 },
    marker: {
      color: fill,
      line: { color: mixed(fill, ink, 0.45), width: 1 },
      pattern: {
        shape: HATCHES[identity?.hatch ?? 0],
        fgcolor: mixed(fill, ink, 0.26),
        bgcolor: fill,
        size: 6,
        solidity: 0.2,
      },
    },
  };
}

/** A map has one scale for all: each request's place becomes its colour's. @param {any} trace @param {Dress} dress */
function dressedMap(trace, { colours, identities }) {
  const kinds = new Map(trace.meta.kinds.map((/** @type {[number, string]} */ [code, kind]) => [code, KINDS.indexOf(kind)]));
  const requests = new Map(
    trace.meta.owners.map((/** @type {[number, string]} */ [place, name]) => [
      place,
      KINDS.length + (identities.get(name)?.colour ?? place % COLOURS),
    ]),
  );
  const scale = [
    ...KINDS.map((kind) => mapColour(kind, colours)),
    ...Array.from({ length: COLOURS }, (_, index) => mixed(colours[`c${index}`], colours[`c${index}-ink`], 0.4)),
  ];
  return {
    ...trace,
    z: trace.z.map((/** @type {(number | null)[]} */ row) =>
      row.map((code) => (code === null ? null : (kinds.get(code) ?? requests.get(code) ?? 0))),
    ),
    zmin: -0.5,
    zmax: scale.length - 0.5,
    colorscale: scale.flatMap((colour, index) => [
      [index / scale.length, colour],
      [(index + 1) / scale.length, colour],
    ]),
  };
}

/** @param {string} kind @param {Colours} colours */
function mapColour(kind, colours) {
  if (kind === 'stale') return colours.line;
  if (kind === 'null') return colours['line-strong'];
  return kind === 'several' ? colours.edge : colours.paper;
}

/** @param {Record<string, any>} layout @param {Dress} dress */
function dressedLayout(layout, { colours, sans, mono, width }) {
  const axis = {
    color: colours.soft,
    gridcolor: colours.line,
    linecolor: colours['line-strong'],
    tickcolor: colours['line-strong'],
    tickfont: { family: mono, size: 12, color: colours.soft },
  };
  const axes = Object.entries(layout).filter(([name]) => /^[xy]axis\d*$/.test(name));
  const styled = axes.map(([name, given]) => [
    name,
    {
      ...axis,
      ...given,
      ...(name[0] === 'x'
        ? {
            showline: true,
            ticks: 'outside',
            ticklen: 4,
            title: { ...given.title, standoff: 6, font: { size: 12, color: colours.soft } },
          }
        : { showline: given.tickvals !== undefined }),
    },
  ]);
  return {
    ...layout,
    ...Object.fromEntries(styled),
    width,
    autosize: false,
    showlegend: false,
    paper_bgcolor: 'rgba(0,0,0,0)',
    plot_bgcolor: 'rgba(0,0,0,0)',
    font: { family: sans, size: 12, color: colours.ink },
    hoverlabel: {
      bgcolor: colours.raise,
      bordercolor: colours['line-strong'],
      font: { family: sans, size: 12, color: colours.ink },
      namelength: -1,
      align: 'left',
    },
    uniformtext: { mode: 'hide', minsize: 12 },
    annotations: (layout.annotations ?? []).map((/** @type {any} */ one) => ({
      ...one,
      font: { size: 12, color: colours.soft },
    })),
  };
}

/**
 * The step on screen, in each panel: a band behind the numbers, and a line around it or, where that would hide them,
 * through it.
 * @param {Record<string, any>} layout @param {Pick<Dress, 'colours' | 'step' | 'width'>} dress
 */
export function stepMark(layout, { colours, step, width }) {
  const panels = Object.keys(layout)
    .filter((name) => /^yaxis\d*$/.test(name))
    .map((name) => `y${name.slice(5)} domain`);
  const isNarrow = isNarrowStep(layout, width);
  return panels.flatMap((yref) => {
    const band = { type: 'rect', xref: 'x', yref, x0: step - 0.5, x1: step + 0.5, y0: 0, y1: 1 };
    const line = { color: colours.pin, width: isNarrow ? 1 : 1.5 };
    return [
      { ...band, layer: 'below', fillcolor: colours.walk, line: { width: 0 } },
      {
        ...band,
        layer: 'above',
        fillcolor: 'rgba(0,0,0,0)',
        line,
        ...(isNarrow ? { type: 'line', x0: step, x1: step } : {}),
      },
    ];
  });
}

/** @param {string} a @param {string} b @param {number} share of b */
function mixed(a, b, share) {
  const [from, to] = [a, b].map((colour) => (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number));
  return `rgb(${from.map((part, index) => Math.round(part + ((to[index] ?? 0) - part) * share)).join(', ')})`;
}

/** Plotly reads its texts as HTML. @param {string} text */
function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
