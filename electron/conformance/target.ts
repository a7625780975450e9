import { Agent, fetch, request, type Dispatcher } from 'undici';
import { formatDay } from '../portal/portal.ts';
import { isObject, memberAt } from '../service/answers.ts';
import { readList, readSingle } from '../service/read-answers.ts';
import { readProfile, type ServiceProfile } from '../service/profile.ts';
import { accountSchema, samples, type Account } from './account.ts';
import { NotTried } from './unchecked.ts';

export interface TargetOptions {
  readonly baseUrl: string;
  /** PEM of an authority to trust beside the system's. */
  readonly ca?: string | undefined;
  /** The account with its credentials, see `accountSchema`. */
  readonly account: unknown;
  /** Text of a service profile: paths, methods and names of members on the wire. The shipped one if absent. */
  readonly profile?: string | undefined;
  /** The lifetime of a session where it is known. Expiry is checked if it is five seconds or less. */
  readonly sessionSeconds?: number | undefined;
}

/** What is refused since too much was asked is asked again that often, with a pause between. */
const most429 = 20;
const pause429 = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 250));

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Null where it was not one of the operations that was asked. */
  readonly operation: string | null;
}

interface SendOptions {
  readonly method?: Dispatcher.HttpMethod;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whether a 429 is repeated until it passes; true if absent. */
  readonly retry429?: boolean;
}

type Operation = Account['policies'][number]['grants'][number]['operations'][number];
type SessionOperation = keyof ServiceProfile['operations'];

const reporting = { AggregateApiRequestMetrics: 'metrics', QueryLastFailedRequests: 'failures' } as const;
const isReport = (operation: string): operation is keyof typeof reporting =>
  Object.hasOwn(reporting, operation);

/**
 * The service under test: its address, the account's credentials, and the requests that checks send. Checks name
 * operations and parameters as the specification does; the profile says what they are called on the wire.
 */
export class Target {
  readonly options: TargetOptions;
  readonly account: Account;
  readonly profile: ServiceProfile;
  readonly agent: Agent;
  /** How often each status was received, for the statements about the run as a whole. */
  readonly statuses = new Map<number, number>();
  readonly requestIds: string[] = [];
  withoutRequestId = 0;

  constructor(options: TargetOptions) {
    this.options = options;
    this.account = accountSchema.parse(options.account);
    const profile = readProfile(options.profile ?? '{"version":1}');
    if (!profile.ok) throw new Error(`Not valid: ${profile.failure.subject ?? ''}`);
    this.profile = profile.value;
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
      if (response.statusCode === 429 && retry429 && attempt < most429) {
        await pause429();
        continue;
      }
      return {
        status: response.statusCode,
        headers: response.headers,
        text,
        body: asObject(text),
        operation: null,
      };
    }
  }

  /** For a client that brings its own calls. A 429 is repeated here too. */
  readonly fetch = async (url: string, init: object): ReturnType<typeof fetch> => {
    for (let attempt = 0; ; attempt++) {
      const response = await fetch(url, { ...init, dispatcher: this.agent });
      if (response.status !== 429 || attempt === most429) return response;
      await response.body?.cancel();
      await pause429();
    }
  };

  #count(status: number, requestId: string | string[] | undefined): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (typeof requestId === 'string' && requestId !== '') this.requestIds.push(requestId);
    else this.withoutRequestId += 1;
  }

  path(operation: string): string {
    return this.#wireOf(operation).path;
  }

  #wireOf(operation: string): {
    method: Dispatcher.HttpMethod;
    path: string;
    request: Readonly<Record<string, string>>;
  } {
    const { operations, reporting: reports } = this.profile;
    return isReport(operation) ? reports[reporting[operation]] : operations[operation as SessionOperation];
  }

  /** A parameter as it is called on the wire. */
  member(operation: string, parameter: string): string {
    return this.#wireOf(operation).request[parameter] ?? parameter;
  }

  /** A body with the members that it has on the wire; what is no parameter stays as it is. */
  wireBody(operation: string, body: object): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(body).map(([name, value]) => [
        this.member(operation, name),
        this.#wireValue(name, value),
      ]),
    );
  }

  #wireValue(name: string, value: unknown): unknown {
    const { element, reporting: reports } = this.profile;
    if (name === 'elements' && Array.isArray(value)) {
      const names: Record<string, string> = { RefId: element.request.ref, Value: element.request.value };
      return value.map((one: object) =>
        Object.fromEntries(Object.entries(one).map(([key, text]) => [names[key] ?? key, text as unknown])),
      );
    }
    const { dates, groupBy } = reports.metrics;
    if (name === 'startDate') return formatDay(String(value), dates, 'start');
    if (name === 'endDate') return formatDay(String(value), dates, 'end');
    return name === 'groupBy' ? groupBy[value as keyof typeof groupBy] : value;
  }

  async call(operation: string, body: unknown, options: SendOptions = {}): Promise<Answer> {
    const { method, path } = this.#wireOf(operation);
    const members = this.wireBody(operation, body as object);
    const query = new URLSearchParams(
      Object.entries(members).map(([name, value]) => [name, String(value)] as [string, string]),
    );
    const answer = await (method === 'GET'
      ? this.send(`${path}?${query.toString()}`, { ...options, method })
      : this.send(path, { ...options, method, body: JSON.stringify(members) }));
    return { ...answer, operation };
  }

  /** The text that an operation answers with, as the app reads it. */
  textOf({ status, body, text, operation }: Answer): string {
    const name = operation as SessionOperation;
    const read = status === 200 ? readSingle(this.profile, name, jsonOf(text)) : null;
    if (read?.ok === true) return read.value;
    const members = Object.keys(body).join(', ');
    throw new Error(
      `Expected ${this.profile.operations[name].answer.join(' or ')} in the answer, found ${members} and status ${status}.`,
    );
  }

  /**
   * The elements of a batch answer under the specification's names, in the order of their RefIds. Lists, RefIds and values
   * are found as the app finds them.
   */
  elementsOf({ status, text, operation }: Answer): { RefId?: string; Value?: string }[] {
    const { element, operations } = this.profile;
    const values = operations[operation as SessionOperation].answer;
    if (status !== 200) throw new Error(`Expected elements in the answer, status ${status}.`);
    const list = readList(this.profile, jsonOf(text), { valueName: values[0] ?? '', mayLack: false });
    if (!list.ok)
      throw new Error(`Expected a list in the answer, found ${(list.failure.members ?? []).join(', ')}.`);
    return list.value
      .map((one) => {
        // A list of nothing but RefIds.
        const ref = typeof one === 'string' ? one : textIn(one, element.ref);
        const value = textIn(one, values);
        return { ...(ref !== null && { RefId: ref }), ...(value !== null && { Value: value }) };
      })
      .sort((one, other) => String(one.RefId).localeCompare(String(other.RefId), 'en', { numeric: true }));
  }

  /** The list in an answer: itself, or under one of these members, wrapped or not. */
  listOf(body: unknown, names: readonly string[]): readonly unknown[] {
    for (const inner of [body, ...this.profile.wrappers.map((name) => memberOf(body, name))]) {
      for (const found of [inner, ...names.map((name) => memberOf(inner, name))])
        if (Array.isArray(found)) return found;
    }
    throw new Error(`Expected a list in the answer, under ${names.join(' or ')}.`);
  }

  get apiKey(): string {
    const key = this.account.apiKeys.find(
      ({ value, expires }) =>
        value !== undefined && (expires === undefined || Date.parse(expires) > Date.now()),
    );
    if (key?.value === undefined) throw new NotTried('the account has no usable API key');
    return key.value;
  }

  get expiredApiKey(): string {
    const key = this.account.apiKeys.find(
      ({ expires }) => expires !== undefined && Date.parse(expires) <= Date.now(),
    );
    if (key?.value === undefined) throw new NotTried('the account has no expired API key');
    return key.value;
  }

  credentials(policy: string) {
    const policyPassword = this.account.policies.find(({ name }) => name === policy)?.password;
    if (policyPassword === undefined)
      throw new NotTried(`the account has no password for the policy ${policy}`);
    return { apiKey: this.apiKey, policy, policyPassword };
  }

  grants(policy: Account['policies'][number], operation: Operation, definition: string): boolean {
    return policy.grants.some(
      (one) => one.definitions.includes(definition) && one.operations.includes(operation),
    );
  }

  /** A policy that grants all of the operations on a definition, and that definition. */
  grantee(...operations: readonly Operation[]): {
    policy: string;
    definition: Account['definitions'][number];
  } {
    for (const policy of this.account.policies) {
      for (const definition of this.account.definitions) {
        const fits = operations.every((operation) => this.grants(policy, operation, definition.name));
        if (fits) return { policy: policy.name, definition };
      }
    }
    throw new NotTried(`no policy of the account grants ${operations.join(' and ')}`);
  }

  /** A session of its own each time: lifetimes may be short. */
  async session(policy: string): Promise<string> {
    const answer = await this.call('CreateSession', this.credentials(policy));
    if (answer.status !== 200) throw new Error(`CreateSession answered ${answer.status} for ${policy}.`);
    return this.textOf(answer);
  }

  samples({ name, kind = '', samples: own }: Account['definitions'][number]): readonly [string, string] {
    const found = own ?? (samples as Partial<Record<string, readonly [string, string]>>)[kind];
    if (found === undefined) throw new NotTried(`the account has no samples for the definition ${name}`);
    return found;
  }

  /** A session, a definition, and tokens of two values under it, granted all that is asked and Tokenize. */
  async tokens(...operations: readonly Operation[]) {
    const { policy, definition } = this.grantee('Tokenize', ...operations);
    const sessionToken = await this.session(policy);
    const base = { sessionToken, tokenName: definition.name };
    const values = this.samples(definition);
    const tokenOf = async (value: string) => this.textOf(await this.call('Tokenize', { ...base, value }));
    const tokens = [await tokenOf(values[0]), await tokenOf(values[1])] as const;
    return { policy, definition, base, sessionToken, values, tokens };
  }

  /** The portal's sign-in; NotTried where no such user is given. */
  async portalToken(role: 'AccountUser' | 'AccountAdmin'): Promise<string> {
    const user = this.account.portalUsers.find((one) => one.role === role && one.password !== undefined);
    if (!user) throw new NotTried(`the account has no portal user who is ${role}`);
    const { method, path, request: names, extra, token, wrappers } = this.profile.reporting.authenticate;
    const { accountId, tenantId } = this.account.account;
    const more = JSON.stringify(extra)
      .replaceAll('{accountId}', accountId)
      .replaceAll('{tenantId}', tenantId);
    const body = {
      ...(JSON.parse(more) as object),
      [names.user]: user.name,
      [names.password]: user.password,
    };
    const answer = await this.send(path, { method, body: JSON.stringify(body) });
    if (answer.status === 404) throw new NotTried(`no Authenticate endpoint at ${path}`);
    const found = [answer.body, ...wrappers.map((name) => memberOf(answer.body, name))]
      .map((inner) => textIn(inner, token))
      .find((one) => one !== null);
    if (answer.status !== 200 || found === undefined)
      throw new Error(`Authenticate answered ${answer.status}.`);
    return found;
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

const memberOf = (json: unknown, name: string): unknown =>
  typeof json === 'object' && json !== null ? (json as Record<string, unknown>)[name] : undefined;

/** The first of these members that is a text. */
function textIn(json: unknown, names: readonly string[]): string | null {
  if (!isObject(json)) return null;
  const found = names.map((name) => memberAt(json, name)).find((one) => typeof one === 'string');
  return found ?? null;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
