import { RE2JS } from 're2js';
import { done, failed, type Outcome } from '../contract/errors.ts';

/**
 * In which of these texts each expression is found: anywhere in the text, as PatternMatch finds it. Failures as for
 * `checkPattern`, of the first that has one. Linear in the texts, but a long expression takes a second all the same:
 * called in the parser's thread only.
 */
export function matchPatterns(patterns: readonly string[], texts: readonly string[]): Outcome<boolean[][]> {
  const matches: boolean[][] = [];
  for (const pattern of patterns) {
    const checked = checkPattern(pattern);
    if (!checked.ok) return checked;
    matches.push(texts.map((text) => checked.value.matcher(text).find()));
  }
  return done(matches);
}

/**
 * Checks an expression before it is sent. Only what runs in linear time is allowed: no expression can hold up the
 * service. Failures: pattern.unsupported (lookaround, backreference, possessive or atomic group), pattern.invalid.
 */
export function checkPattern(pattern: string): Outcome<RE2JS> {
  if (pattern === '') return failed('pattern.invalid');
  try {
    return done(RE2JS.compile(pattern));
  } catch {
    const withoutClasses = pattern.replace(/\\\\/g, '').replace(/\[(?:\\.|[^\]\\])*\]/g, '');
    const unsupported = /\(\?(?:[=!>]|<[=!])|\\[1-9]|\\k[<{']|[*+?}]\+/.test(withoutClasses);
    return failed(unsupported ? 'pattern.unsupported' : 'pattern.invalid');
  }
}
