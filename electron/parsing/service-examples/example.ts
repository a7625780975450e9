/** One call of a service as somebody wrote it down: in a document, a collection, a command line or as text. */
export interface CallExample {
  /** What it is called there, for a person. */
  readonly title: string;
  /** Words that may say what it does: an operation ID, a summary, a name. */
  readonly names: readonly string[];
  readonly method: string;
  /** From the host on, parameters as `{name}`; empty where it is not known. */
  readonly path: string;
  readonly query: readonly Pair[];
  readonly headers: readonly Pair[];
  /** Undefined where there is none. */
  readonly request: unknown;
  readonly answer: unknown;
}

export type Pair = readonly [name: string, value: string];

/** More calls than any service of this kind has. */
export const maxExamples = 200;
/** Of a pasted text or a chosen file. */
export const maxExamplesBytes = 4 * 1024 * 1024;

export const isObject = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

/** A member of its own; undefined where there is none. */
export const memberOf = (json: unknown, name: string): unknown =>
  isObject(json) && Object.hasOwn(json, name) ? json[name] : undefined;

export const textOf = (json: unknown): string => (typeof json === 'string' ? json : '');
export const listOf = (json: unknown): readonly unknown[] => (Array.isArray(json) ? json : []);

/** Undefined where it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Path and query of an address, which may begin with a variable: `{{baseUrl}}/v2/:vault/reveal?x=1`. Parameters of all
 * spellings become `{name}`.
 */
export function splitAddress(address: string): { path: string; query: Pair[] } {
  const [before = '', asked = ''] =
    address
      .trim()
      .split('#')[0]
      ?.split(/\?(.*)/s) ?? [];
  const rest = before
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
    .replace(/^(?:\{\{[^}]*\}\}|\$\{?\w+\}?|\{\w+\})(?=\/|$)/, '')
    .replace(/^[\w.-]+(?::\d+)?(?=\/)/, '');
  const path = rest
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => {
      const [, name] =
        /^(?:\{\{(.+)\}\}|\{(.+)\}|:(.+)|\$\{?(\w+)\}?|<(.+)>)$/.exec(segment)?.filter(Boolean) ?? [];
      return name === undefined ? segment : `{${name}}`;
    })
    .join('/');
  const query = [...new URLSearchParams(asked)].map(([name, value]): Pair => [name, value]);
  return { path: path === '' ? '' : `/${path}`, query };
}
