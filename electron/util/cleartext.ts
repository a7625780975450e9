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

/** Told what is read for the window, before any of it is hidden, and what of it the window sees whole. */
export interface CleartextWatch {
  saw(text: string): void;
  showed(text: string): void;
}

/** One for the process: values are read in many modules, and what leaves is checked in one. */
let watch: CleartextWatch | null = null;

/** Returns what ends it. */
export function watchCleartext(next: CleartextWatch): () => void {
  watch = next;
  return () => {
    if (watch === next) watch = null;
  };
}

/**
 * For what is read to be shown, masked or by an act, and for single answers. Not for all that a batch sends and gets: to
 * look at every digit of it would be 4 % of a run.
 */
export function noteCleartext(value: Cleartext): Cleartext {
  watch?.saw(openCleartext(value));
  return value;
}

/** What turned out to be a token, by the service's answer or its column's name: the window sees it whole. */
export function openToken(value: Cleartext): string {
  const token = openCleartext(value);
  watch?.showed(token);
  return token;
}
