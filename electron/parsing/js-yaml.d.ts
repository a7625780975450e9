/** What is used of it; it brings no types. */
declare module 'js-yaml' {
  /** Types of JSON alone: no dates, no merged keys. */
  // eslint-disable-next-line @typescript-eslint/naming-convention -- its own name
  export const JSON_SCHEMA: unknown;
  export function load(text: string, options: { readonly schema: unknown }): unknown;
}
