import { done, failed, type Outcome } from '../contract/errors.ts';
import { caseReference } from '../contract/models/fields.ts';
import type { Opened, Source } from '../contract/models/batch.ts';
import type { Platform, Opening } from '../platform/platform.ts';

interface OpeningsOptions {
  readonly platform: Pick<Platform, 'onOpen' | 'send'>;
  readonly openFile: (reference: string) => Promise<Outcome<Source>>;
}

export interface Openings {
  /** The latest that nobody took; null when there is none. Failures: link.refused, those of opening a file. */
  take(): Promise<Outcome<Opened | null>>;
  readonly close: () => void;
}

/**
 * What the system asked to open waits here until the window takes it: a locked one takes nothing. A link fills a field,
 * or opens a case as it is listed; nothing is sent to a service before a person presses a key.
 */
export function createOpenings({ platform, openFile }: OpeningsOptions): Openings {
  let waiting: Opening | null = null;
  const stop = platform.onOpen((opening) => {
    waiting = opening;
    platform.send('app.opened', {});
  });

  return {
    async take() {
      const opening = waiting;
      waiting = null;
      if (opening === null) return done(null);
      if (opening.kind === 'link') {
        const link = parseLink(opening.address);
        return link === null ? failed('link.refused') : done(link);
      }
      if (opening.kind === 'batch' || opening.kind === 'new-batch') return done(opening);
      const source = await openFile(opening.reference);
      return source.ok ? done({ kind: 'file', source: source.value, others: opening.others }) : source;
    },
    close: stop,
  };
}

const maxTokenLength = 200;

/**
 * `tokendesk://case/REFERENCE` or `tokendesk://token/TOKEN`, percent-encoded, and nothing else: no query, fragment, user
 * or port, no second segment, no control character. Null for anything else. Whoever writes a link may be a stranger.
 */
export function parseLink(address: string): Opened | null {
  const [, kind, encoded] =
    /^tokendesk:\/\/(case|token)\/((?:[\w.~-]|%[0-9a-f]{2}){1,900})\/?$/i.exec(address) ?? [];
  if (kind === undefined || encoded === undefined) return null;
  let text: string;
  try {
    text = decodeURIComponent(encoded);
  } catch {
    return null;
  }
  if (text.trim() !== text || /[\p{C}\p{Zl}\p{Zp}]/u.test(text)) return null;
  if (kind.toLowerCase() === 'token')
    return text.length > maxTokenLength ? null : { kind: 'token', token: text };
  const reference = caseReference.safeParse(text);
  return reference.success && reference.data === text ? { kind: 'case', caseReference: text } : null;
}
