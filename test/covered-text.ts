import { coverText, newPad, type CoveredText } from '../electron/contract/covered.ts';

/** As the window covers what was typed. */
export function coveredOf(text: string): CoveredText {
  const pad = newPad();
  return { pad, covered: coverText(text, pad) };
}
