import { formatDay } from '../portal/portal.ts';
import { addressOf, isInAddress } from '../service/addresses.ts';
import { memberNames } from '../service/answers.ts';
import type { Exchange } from '../service/http/exchange.ts';
import { createTransport, trustedCertificates, type Transport } from '../service/http/transport.ts';
import { readProfile, type HttpMethod, type ServiceProfile } from '../service/profile.ts';
import { systemClock } from '../util/clock.ts';
import { accountSchema, samples, type Account } from './account.ts';
import { answerOf, memberOf, textIn, type Answer } from './answer.ts';
import { leftOut, readAsApp, valueOf, type Reading } from './read-as-app.ts';
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

interface SendOptions {
  readonly method?: HttpMethod;
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
 * operations and parameters as the specification does; the profile says what they are called on the wire. Requests leave
 * through the app's own transport, and what comes back is read as the app reads it: a check that had its own way would pass
 * a service that the app refuses.
 */
export class Target {
  readonly options: TargetOptions;
  readonly account: Account;
  readonly profile: ServiceProfile;
  readonly #transport: Transport;
  /** How often each status was received, for the statements about the run as a whole. */
  readonly statuses = new Map<number, number>();
  readonly requestIds: string[] = [];
  withoutRequestId = 0;
  /** Answers of operations that the app does not take, by operation. */
  readonly refusedByApp = new Map<string, Set<string>>();
  answersRead = 0;
  /** Sessions that were asked for with all that a sign-in needs. */
  sessionsAsked = 0;
  /** What kept requests from being answered. */
  readonly faults = new Set<string>();
  /** What may stand in no report: credentials, sessions, tokens and values. */
  readonly secrets = new Set<string>();

  constructor(options: TargetOptions) {
    const { username, password } = new URL(options.baseUrl);
    // It would stand in the report.
    if (username !== '' || password !== '') throw new Error('The address must have no user name in it.');
    this.options = options;
    this.account = accountSchema.parse(options.account);
    const profile = readProfile(options.profile ?? '{"version":1}');
    if (!profile.ok) throw new Error(`Not valid: ${profile.failure.subject ?? ''}`);
    this.profile = profile.value;
    const ca = trustedCertificates(options.ca ?? null);
    if (!ca.ok) throw new Error('The certificates can’t be read.');
    const { accountId, tenantId } = this.account.account;
    const pins = this.profile.pins[new URL(options.baseUrl).hostname];
    this.#transport = createTransport({
      baseUrl: options.baseUrl,
      ca: ca.value,
      clock: systemClock,
      headers: Object.fromEntries(
        Object.entries(this.profile.headers).map(([name, text]) => [
          name,
          text.replaceAll('{accountId}', () => accountId).replaceAll('{tenantId}', () => tenantId),
        ]),
      ),
      ...(pins !== undefined && { pins }),
    });
    const { apiKeys, policies, portalUsers, definitions } = this.account;
    for (const { value } of apiKeys) this.#hold(value);
    for (const { password } of [...policies, ...portalUsers]) this.#hold(password);
    for (const { samples: own } of definitions) for (const value of own ?? []) this.#hold(value);
    for (const value of Object.values(samples).flat()) this.#hold(value);
  }

  #hold(secret: string | undefined): void {
    if (secret !== undefined && secret !== '') this.secrets.add(secret);
  }

  async close(): Promise<void> {
    await this.#transport.close();
  }

  /** An address under {base_url}. */
  url(path: string): URL {
    return new URL(`${this.options.baseUrl.replace(/\/+$/, '')}${path}`);
  }

  async send(path: string, options: SendOptions = {}): Promise<Answer> {
    return answerOf(await this.#exchange(path, options));
  }

  async #exchange(
    path: string,
    { method = 'POST', headers = {}, body, retry429 = true }: SendOptions,
  ): Promise<Extract<Exchange, { ok: true }>> {
    for (let attempt = 0; ; attempt++) {
      const exchange = await this.#transport.send({ method, path }, body ?? null, { headers });
      if (!exchange.ok) {
        const { kind, subject = '' } = exchange.fault;
        const fault = `${kind} ${subject}`.trim();
        if (kind === 'redirect' || kind === 'encoding' || kind === 'too-large')
          throw new Error(`The app takes no such answer: ${fault}.`);
        this.faults.add(fault);
        throw new Error(`No answer: ${fault}.`);
      }
      const { status, headers: received } = exchange.reply;
      this.#count(status, received['x-requestid']);
      if (status !== 429 || !retry429 || attempt >= most429) return exchange;
      await pause429();
    }
  }

  /** For a client that brings its own calls. A 429 is repeated here too. */
  readonly fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    for (let attempt = 0; ; attempt++) {
      const opened = await this.#transport.open(new URL(url), init);
      if (!opened.ok) throw new Error(`No answer: ${opened.fault.kind}.`);
      if (opened.response.status !== 429 || attempt === most429) return opened.response;
      await opened.response.body?.cancel();
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
    method: HttpMethod;
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

  /** Whether a parameter stands in the address, where nothing but a name of a definition can be sent. */
  isInAddress(operation: string, parameter: string): boolean {
    return (
      !isReport(operation) && isInAddress(this.profile.operations[operation as SessionOperation], parameter)
    );
  }

  /** Path and query, with the names in them. Where a check leaves one out, any definition stands for it. */
  #addressOf(operation: string, body: Readonly<Record<string, unknown>>): string {
    if (isReport(operation)) return this.path(operation);
    const any = this.account.definitions[0]?.name ?? 'none';
    const nameOf = (parameter: string): string =>
      typeof body[parameter] === 'string' ? body[parameter] : any;
    const address = addressOf(this.profile.operations[operation as SessionOperation], {
      tokenName: nameOf('tokenName'),
      sourceTokenName: nameOf('sourceTokenName'),
      targetTokenName: nameOf('targetTokenName'),
    });
    if (!address.ok) throw new NotTried(`the app does not send ${address.failure.subject ?? 'this'}`);
    return address.value;
  }

  async call(operation: string, body: object, options: SendOptions = {}): Promise<Answer> {
    const { method } = this.#wireOf(operation);
    const asked = body as Readonly<Record<string, unknown>>;
    const address = this.#addressOf(operation, asked);
    const members = this.wireBody(
      operation,
      Object.fromEntries(Object.entries(asked).filter(([name]) => !this.isInAddress(operation, name))),
    );
    const query = new URLSearchParams(
      Object.entries(members).map(([name, value]) => [name, String(value)] as [string, string]),
    );
    const exchange = await (method === 'GET'
      ? this.#exchange(`${address}?${query.toString()}`, { ...options, method })
      : this.#exchange(address, { ...options, method, body: JSON.stringify(members) }));
    const answer = answerOf(exchange);
    if (isReport(operation) || answer.status < 200 || answer.status > 299) return { ...answer, operation };
    const reading = await readAsApp(
      this.profile,
      { operation: operation as SessionOperation, body: asked },
      exchange,
    );
    this.#noteReading(operation, reading);
    return { ...answer, operation, reading };
  }

  #noteReading(operation: string, reading: Reading): void {
    this.answersRead += 1;
    if (reading.kind === 'text') this.#hold(reading.text);
    if (reading.kind === 'elements')
      for (const one of reading.elements) this.#hold(valueOf(one) ?? undefined);
    const why =
      reading.kind === 'refused'
        ? reading.reason
        : reading.kind === 'elements'
          ? leftOut(reading.elements)
          : null;
    if (why === null) return;
    const known = this.refusedByApp.get(operation) ?? new Set();
    this.refusedByApp.set(operation, known.add(why));
  }

  /** The text that an operation answers with, as the app reads it. */
  textOf({ status, body, reading, operation }: Answer): string {
    if (status === 200 && reading?.kind === 'text') return reading.text;
    const name = operation as SessionOperation;
    const why = reading !== null && 'reason' in reading ? `: ${reading.reason}` : '';
    throw new Error(
      `Expected ${this.profile.operations[name].answer.join(' or ')} in the answer, found ${memberNames(body).join(', ')} and status ${status}${why}.`,
    );
  }

  /**
   * The elements of a batch answer under the specification's names, in the order in which they were sent, as the app pairs
   * and reads them. One that is what was sent, or that is named alone, has no value.
   */
  elementsOf({ status, reading }: Answer): { RefId: string; Value?: string }[] {
    if (status !== 200) throw new Error(`Expected elements in the answer, status ${status}.`);
    if (reading?.kind !== 'elements')
      throw new Error(
        `Expected elements in the answer: ${reading !== null && 'reason' in reading ? reading.reason : ''}.`,
      );
    return reading.elements.map((one) => {
      if (!one.ok) throw new Error(`The app takes one of the elements for refused: ${one.code}.`);
      const value = valueOf(one);
      return { RefId: one.ref, ...(value !== null && { Value: value }) };
    });
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
    const credentials = this.credentials(policy);
    this.sessionsAsked += 1;
    const answer = await this.call('CreateSession', credentials);
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
    this.#hold(found);
    return found;
  }
}
