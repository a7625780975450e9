/** What is used of it; it brings no types. */
declare module 'js-yaml' {
  /** Types of JSON alone: no dates, no merged keys. */
  export const JSON_SCHEMA: unknown;
  export function load(text: string, options: { readonly schema: unknown }): unknown;
}
