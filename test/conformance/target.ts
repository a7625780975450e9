import { Agent, request, type Dispatcher } from 'undici';
import { seedSchema, type ParsedSeed, type Seed } from '../../electron/built-in-service/seed.ts';
import { NotShown } from './statement.ts';

export interface TargetOptions {
  readonly baseUrl: string;
  /** PEM of an authority to trust beside the system's. */
  readonly ca?: string | undefined;
  /** The account with its credentials: key values and passwords included. */
  readonly seed: Seed;
  /** The lifetime of a session where it is known. Expiry is checked if it is five seconds or less. */
  readonly sessionSeconds?: number | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

interface SendOptions {
  readonly method?: Dispatcher.HttpMethod;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whether a 429 is repeated until it passes; true if absent. */
  readonly retry429?: boolean;
}

type Operation = ParsedSeed['policies'][number]['grants'][number]['operations'][number];
type Kind = ParsedSeed['definitions'][number]['kind'];

/** Two values of each kind, in the definition's own form. */
const samples: Readonly<Record<Kind, readonly [string, string]>> = {
  'card-number': ['4111111111111111', '5555555555554444'],
  ssn: ['123-45-6789', '219-09-9999'],
  email: ['jane.doe@example.com', 'max@example.org'],
  'free-text': ['Jane Doe, 12 High Street', 'Grüße aus Köln'],
};

/** The service under test: its address, the credentials of the seed, and the requests that checks send. */
export class Target {
  readonly options: TargetOptions;
  readonly seed: ParsedSeed;
  readonly agent: Agent;
  /** How often each status was received, for the statements about the run as a whole. */
  readonly statuses = new Map<number, number>();
  readonly requestIds: string[] = [];
  withoutRequestId = 0;

  constructor(options: TargetOptions) {
    this.options = options;
    this.seed = seedSchema.parse(options.seed);
    this.agent = new Agent({ connect: options.ca === undefined ? {} : { ca: options.ca }, connections: 32 });
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }

  async send(
    path: string,
    { method = 'POST', headers = {}, body, retry429 = true }: SendOptions = {},
  ): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      const response = await request(new URL(path, this.options.baseUrl), {
        method,
        dispatcher: this.agent,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        body: body ?? null,
      });
      const text = await response.body.text();
      this.#count(response.statusCode, response.headers['x-requestid']);
      if (response.statusCode === 429 && retry429 && attempt < 20) {
        await new Promise((resolve) => setTimeout(resolve, 250));
        continue;
      }
      return { status: response.statusCode, headers: response.headers, text, body: asObject(text) };
    }
  }

  #count(status: number, requestId: string | string[] | undefined): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (typeof requestId === 'string' && requestId !== '') this.requestIds.push(requestId);
    else this.withoutRequestId += 1;
  }

  path(operation: string): string {
    return `/api/services/evtservice/${operation.toLowerCase()}`;
  }

  call(operation: string, body: unknown, options: SendOptions = {}): Promise<Answer> {
    return this.send(this.path(operation), { ...options, body: JSON.stringify(body) });
  }

  get apiKey(): string {
    const key = this.seed.apiKeys.find(({ expires, expiresInDays }) =>
      expires === undefined ? expiresInDays !== undefined : Date.parse(expires) > Date.now(),
    );
    if (key?.value === undefined) throw new Error('The seed file has no usable API key with a value.');
    return key.value;
  }

  get expiredApiKey(): string | undefined {
    return this.seed.apiKeys.find(({ expires }) => expires !== undefined && Date.parse(expires) <= Date.now())
      ?.value;
  }

  credentials(policy: string) {
    const policyPassword = this.seed.policies.find(({ name }) => name === policy)?.password;
    if (policyPassword === undefined)
      throw new Error(`The seed file has no password for the policy ${policy}.`);
    return { apiKey: this.apiKey, policy, policyPassword };
  }

  grants(policy: ParsedSeed['policies'][number], operation: Operation, definition: string): boolean {
    return policy.grants.some(
      (one) => one.definitions.includes(definition) && one.operations.includes(operation),
    );
  }

  /** A policy that grants all of the operations on a definition, and that definition. */
  grantee(...operations: readonly Operation[]): {
    policy: string;
    definition: ParsedSeed['definitions'][number];
  } {
    for (const policy of this.seed.policies) {
      for (const definition of this.seed.definitions) {
        const fits = operations.every((operation) => this.grants(policy, operation, definition.name));
        if (fits) return { policy: policy.name, definition };
      }
    }
    throw new NotShown(`no policy of the seed grants ${operations.join(' and ')}`);
  }

  /** A session of its own each time: lifetimes may be short. */
  async session(policy: string): Promise<string> {
    const answer = await this.call('CreateSession', this.credentials(policy));
    if (answer.status !== 200) throw new Error(`CreateSession answered ${answer.status} for ${policy}.`);
    return textOf(answer);
  }

  samples(kind: Kind): readonly [string, string] {
    return samples[kind];
  }

  /** A session, a definition, and tokens of two values under it, granted all that is asked and Tokenize. */
  async tokens(...operations: readonly Operation[]) {
    const { policy, definition } = this.grantee('Tokenize', ...operations);
    const sessionToken = await this.session(policy);
    const base = { sessionToken, tokenName: definition.name };
    const values = this.samples(definition.kind);
    const tokenOf = async (value: string) => textOf(await this.call('Tokenize', { ...base, value }));
    const tokens = [await tokenOf(values[0]), await tokenOf(values[1])] as const;
    return { policy, definition, base, sessionToken, values, tokens };
  }

  /** The portal's sign-in under its default path; NotShown where the service has none there or no user is given. */
  async portalToken(role: 'AccountUser' | 'AccountAdmin'): Promise<string> {
    const user = this.seed.portalUsers.find((one) => one.role === role && one.password !== undefined);
    if (!user) throw new NotShown(`the seed has no portal user who is ${role}`);
    const body = JSON.stringify({ userName: user.name, password: user.password });
    const answer = await this.send('/api/services/portal/authenticate', { body });
    if (answer.status === 404)
      throw new NotShown('no Authenticate endpoint at /api/services/portal/authenticate');
    if (answer.status !== 200) throw new Error(`Authenticate answered ${answer.status}.`);
    return typeof answer.body.token === 'string' ? answer.body.token : textOf(answer);
  }
}

function asObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : { value };
  } catch {
    return {};
  }
}

/** The one text in an answer whose member names are not shown. */
export function textOf({ status, body }: Answer): string {
  const texts = Object.values(body).filter((value) => typeof value === 'string');
  if (status !== 200 || texts.length !== 1) {
    throw new Error(`Expected one text in the answer, found ${texts.length} and status ${status}.`);
  }
  return texts[0] ?? '';
}

/** The elements in an answer whose member names are not shown. */
export function elementsOf({ status, body }: Answer): readonly Readonly<Record<string, unknown>>[] {
  const list = Array.isArray(body)
    ? (body as unknown[])
    : Object.values(body).find((value) => Array.isArray(value));
  if (status !== 200 || !Array.isArray(list))
    throw new Error(`Expected elements in the answer, status ${status}.`);
  return list as Readonly<Record<string, unknown>>[];
}
