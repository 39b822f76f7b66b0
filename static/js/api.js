// @ts-check
/** The server, as the page uses it. A failure is a `Problem`; a server that does not answer is an `Unreachable`. */

/** @typedef {import('./ui/view.js').Fault} Fault */

export class Unreachable extends Error {}

export class Problem extends Error {
  /** @param {any} body problem+json */
  constructor(body) {
    super(body.detail ?? body.title ?? '');
    /** @type {number} */
    this.status = body.status ?? 500;
    /** @type {Fault[]} */
    this.faults = body.errors ?? [];
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
   * @param {import('./core/edits.js').Scenario} scenario
   * @param {{first?: number, last?: number}} window
   * @returns {Promise<any>}
   */
  trace(scenario, window) {
    const query = new URLSearchParams({ lang: this.lang });
    for (const [name, value] of Object.entries(window)) query.set(name, String(value));
    return this.#ask(`api/trace?${query}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(scenario) });
  }

  /** @returns {Promise<{name: string, title: string}[]>} */
  examples() {
    return this.#ask(`api/examples?lang=${this.lang}`);
  }

  /** @returns {Promise<import('./core/glossary.js').Term[]>} */
  async glossary() {
    return (await this.#ask(`api/glossary?lang=${this.lang}`)).terms;
  }

  /** @param {import('./core/edits.js').Scenario} scenario @returns {Promise<{charts: import('./ui/charts.js').Chart[], script: import('./charts.js').Script}>} */
  charts(scenario) {
    return this.#ask(`api/charts?lang=${this.lang}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(scenario) });
  }

  /** @param {string} name @returns {Promise<any>} */
  example(name) {
    return this.#ask(`api/examples/${encodeURIComponent(name)}?lang=${this.lang}`);
  }

  /** @param {string} path @param {RequestInit} [init] */
  async #ask(path, init) {
    let response;
    try {
      response = await fetch(`${this.root}/${path}`, init);
    } catch {
      throw new Unreachable();
    }
    let body;
    try {
      body = await response.json();
    } catch {
      throw response.ok || response.status >= 502 ? new Unreachable() : new Problem({ status: response.status });
    }
    if (!response.ok) throw new Problem(body);
    return body;
  }
}
