import { done, failed, type Outcome } from '../contract/errors.ts';
import type { OpenedApproval } from '../contract/models/approval.ts';
import { caseReference } from '../contract/models/fields.ts';
import type { Opened, Source } from '../contract/models/batch.ts';
import type { Platform, Opening } from '../platform/platform.ts';

interface OpeningsOptions {
  readonly platform: Pick<Platform, 'onOpen' | 'send'>;
  readonly openFile: (reference: string) => Promise<Outcome<Source>>;
  /** Of a request or an answer in a link. */
  readonly openApproval: (bytes: Uint8Array) => Promise<Outcome<OpenedApproval>>;
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
export function createOpenings({ platform, openFile, openApproval }: OpeningsOptions): Openings {
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
        const approval = parseApprovalLink(opening.address);
        if (approval !== null) {
          const opened = await openApproval(approval);
          return opened.ok ? done({ kind: 'approval', approval: opened.value }) : opened;
        }
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

/** `tokendesk://approval/` with a request or an answer in base64url. What it says is shown, and nothing is signed by it. */
function parseApprovalLink(address: string): Uint8Array | null {
  const [, encoded] = /^tokendesk:\/\/approval\/([\w-]{1,30000})\/?$/i.exec(address) ?? [];
  return encoded === undefined ? null : Buffer.from(encoded, 'base64url');
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
