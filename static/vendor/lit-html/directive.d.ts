// The part of lit-html 3.3.3's directives that the page uses, for the type checker only.
export const PartType: { readonly ELEMENT: 6 };
export interface ElementPart {
  readonly type: 6;
  readonly element: Element;
}
export class Directive {
  constructor(part: ElementPart);
  render(...values: any[]): unknown;
  update(part: ElementPart, values: any[]): unknown;
}
export function directive<T extends abstract new (...args: any[]) => { render(...values: any[]): unknown }>(
  kind: T,
): (...values: Parameters<InstanceType<T>['render']>) => unknown;
