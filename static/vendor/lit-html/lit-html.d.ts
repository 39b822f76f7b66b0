// The part of lit-html 3.3.3 that the page uses, for the type checker only.
export interface TemplateResult {
  readonly strings: TemplateStringsArray;
  readonly values: unknown[];
}
export function html(strings: TemplateStringsArray, ...values: unknown[]): TemplateResult;
export function svg(strings: TemplateStringsArray, ...values: unknown[]): TemplateResult;
export function render(value: unknown, container: HTMLElement | DocumentFragment): unknown;
export const nothing: symbol;
export const noChange: symbol;
