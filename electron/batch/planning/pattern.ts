import { RE2JS } from 're2js';
import { done, failed, type Outcome } from '../../contract/errors.ts';

/**
 * Which of these texts an expression is found in: anywhere in the text, as PatternMatch finds it. Failures as for
 * `checkPattern`.
 */
export function tryPattern(pattern: string, texts: readonly string[]): Outcome<boolean[]> {
  const checked = checkPattern(pattern);
  return checked.ok ? done(texts.map((text) => checked.value.matcher(text).find())) : checked;
}

/**
 * Checks an expression before it is sent: only what runs in linear time is let through, so that no expression of
 * ours can hold up the service or, where samples are tried locally, the desk.
 * Failures: pattern.unsupported (lookaround, backreference, possessive or atomic group), pattern.invalid.
 */
export function checkPattern(pattern: string): Outcome<RE2JS> {
  if (pattern === '') return failed('pattern.invalid');
  try {
    return done(RE2JS.compile(pattern));
  } catch {
    const bare = pattern.replace(/\\\\/g, '').replace(/\[(?:\\.|[^\]\\])*\]/g, '');
    const beyond = /\(\?(?:[=!>]|<[=!])|\\[1-9]|\\k[<{']|[*+?}]\+/.test(bare);
    return failed(beyond ? 'pattern.unsupported' : 'pattern.invalid');
  }
}
