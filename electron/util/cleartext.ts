declare const inClear: unique symbol;

/**
 * A text that may hold a value in clear: a cell of a source, or what a service answered. Opaque, so that it goes into no
 * sentence, no answer and no event by accident. Ways out: a mask (`masking.ts`), the gate (`cleartext-act.ts`), the
 * request and the file that the gate opened. At run time it is the text itself and costs nothing.
 */
export interface Cleartext {
  readonly [inClear]: never;
}

export const cleartext = (text: string): Cleartext => text as unknown as Cleartext;

/** Each use is a place where a value can get out of the type: it is sent, written, compared or counted, never shown. */
export const openCleartext = (value: Cleartext | string): string => value as string;
