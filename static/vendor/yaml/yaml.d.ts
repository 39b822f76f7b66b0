/** What of the library is used, and as loosely as it is used. */
export function parseAllDocuments(text: string, options: Record<string, unknown>): any;
export function isAlias(node: unknown): boolean;
export function isMap(node: unknown): boolean;
export function isScalar(node: unknown): boolean;
export function isSeq(node: unknown): boolean;
