/** What of the library is used, and as loosely as it is used. */
export class Parser {
  parse(text: string): Iterable<any>;
}
export class Composer {
  constructor(options: Record<string, unknown>);
  compose(tokens: Iterable<any>): Iterable<any>;
}
export function isAlias(node: unknown): boolean;
export function isMap(node: unknown): boolean;
export function isScalar(node: unknown): boolean;
export function isSeq(node: unknown): boolean;
