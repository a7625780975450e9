import type { Limiter } from './limiters.ts';

export interface ModelOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Time of day; the real one if absent. */
  readonly date?: () => number;
  readonly sessionMs?: number;
  readonly limiter?: Limiter;
  /** Whether answers carry the rate headers of spec §8. */
  readonly rateHeaders?: boolean;
  readonly passwords?: Readonly<Record<string, string>>;
}

export interface ModelReply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly json: unknown;
}

interface Body {
  readonly [member: string]: unknown;
  readonly elements?: readonly { readonly RefId: string; readonly Value: string }[];
}

/** Of another definition a token is another. */
const moved = (token: string, { targetTokenName, sourceTokenName }: Body): string =>
  targetTokenName === sourceTokenName ? token : `${String(targetTokenName)}_${token}`;

export const modelApiKey = 'canary-api-key-58213';
export const modelPassword = 'canary-password-90417';

export const tokenOf = (clear: string): string => `tok_${clear}`;
export const clearOf = (token: string): string | null => (token.startsWith('tok_') ? token.slice(4) : null);

/**
 * A tokenization service small enough to be obviously right: a token is its cleartext behind `tok_`. Counts what it was
 * asked, so that tests can tell one renewal from many.
 */
export class ModelService {
  readonly #options: ModelOptions;
  readonly #sessions = new Map<string, number>();
  readonly asked: Record<string, number> = {};
  limited = 0;
  readonly sessionsMadeAt: number[] = [];
  /** When requests were admitted, for rates. */
  readonly admitted: number[] = [];

  constructor(options: ModelOptions) {
    this.#options = options;
  }

  expireAll(): void {
    this.#sessions.clear();
  }

  answer(operation: string, body: Body): ModelReply {
    const { now, date = Date.now, limiter, rateHeaders = true } = this.#options;
    const at = now();
    this.asked[operation] = (this.asked[operation] ?? 0) + 1;
    const admitted = limiter?.admit(at) ?? true;
    const headers: Record<string, string> = { 'x-requestid': `req-${Object.values(this.asked).join('-')}` };
    if (limiter && rateHeaders) {
      headers['x-rate-limit-limit'] = String(limiter.limit);
      headers['x-rate-limit-remaining'] = String(Math.max(0, limiter.remaining(at)));
      headers['x-rate-limit-reset'] = new Date(date() + limiter.resetIn(at)).toISOString();
    }
    const reply = (status: number, json: unknown): ModelReply => ({ status, headers, json });
    if (!admitted) {
      this.limited++;
      return reply(429, { title: 'Too Many Requests', status: 429, traceId: 't' });
    }
    this.admitted.push(at);
    if (operation === 'createsession') return this.#createSession(body, reply, at);
    for (const name of ['sessionToken', 'sourceSessionToken', 'targetSessionToken']) {
      if (!(name in body)) continue;
      const ends = this.#sessions.get(String(body[name]));
      if (ends === undefined || ends <= at) return reply(401, { errors: 'SessionExpired', status: 401 });
    }
    return reply(200, this.#perform(operation, body));
  }

  #createSession(body: Body, reply: (status: number, json: unknown) => ModelReply, at: number): ModelReply {
    const { passwords, sessionMs = 600_000 } = this.#options;
    const right = passwords?.[String(body.policy)] ?? modelPassword;
    if (body.apiKey !== modelApiKey || body.policyPassword !== right) {
      return reply(403, { errors: 'InvalidCredentials', status: 403 });
    }
    const token = `canary-session-${this.sessionsMadeAt.push(at)}`;
    this.#sessions.set(token, at + sessionMs);
    return reply(200, { sessionToken: token });
  }

  #perform(operation: string, body: Body): unknown {
    const each = (work: (value: string) => string | null): unknown => ({
      elements: (body.elements ?? []).map(({ RefId, Value }) => {
        const result = work(Value);
        return result === null ? { RefId, Error: 'TokenInvalid' } : { RefId, Value: result };
      }),
    });
    const token = String(body.tokenValue);
    switch (operation) {
      case 'tokenize':
        return { token: tokenOf(String(body.value)) };
      case 'detokenize':
        return { value: clearOf(token) };
      case 'getmasked':
        return { maskedValue: `****${token.slice(-2)}` };
      case 'translate':
        return { token: moved(token, body) };
      case 'batchtokenize':
        return each(tokenOf);
      case 'batchdetokenize':
        return each(clearOf);
      case 'batchtranslate':
        return each((value) => moved(value, body));
      case 'patternmatch': {
        const pattern = new RegExp(String(body.regex));
        const elements = (body.elements ?? []).flatMap(({ RefId, Value }) => {
          const clear = clearOf(Value);
          return clear !== null && pattern.test(clear) ? [{ RefId, Value: clear }] : [];
        });
        return { elements };
      }
      default:
        throw new Error(`no such operation: ${operation}`);
    }
  }
}
