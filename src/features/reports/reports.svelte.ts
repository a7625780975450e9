import type { CallInput } from '../../../electron/contract/calls.ts';
import type { Failure, Outcome } from '../../../electron/contract/errors.ts';
import type {
  Evidence,
  FailedRequest,
  Figures,
  Grouping,
  Metrics,
  MetricsQuery,
  PortalSession,
  ConfigurationForm,
  ToolServer,
  Usage,
  Workstation,
} from '../../../electron/contract/models/report.ts';
import type { ObscuredText } from '../../../electron/contract/obscured.ts';
import type { Api } from '../../lib/api.ts';
import type { AppStore } from '../../lib/app-store.svelte.ts';
import { AccessView } from './access.svelte.ts';
import { presetRange, type Range } from './dates.ts';
import { FailedRequestsView, retryOf, type Retry } from './failed-requests.svelte.ts';

interface FiguresOptions<F extends Figures> {
  app: AppStore;
  api: Api;
  now: number;
  fetch: (query: MetricsQuery) => Promise<Outcome<F>>;
}

/** Figures of a range of days in one grouping: the account's or the workstation's. Shows the answer to the last query. */
export class FiguresView<F extends Figures> {
  readonly app: AppStore;
  range = $state.raw<Range>({ from: '', to: '' });
  grouping = $state<Grouping>('day');
  figures = $state.raw<F | null>(null);
  failure = $state.raw<Failure | null>(null);
  loading = $state(false);
  /** The file that was saved last. */
  message = $state('');
  exportFailure = $state.raw<Failure | null>(null);
  readonly #api: Api;
  readonly #fetch: FiguresOptions<F>['fetch'];
  #turn = 0;

  constructor({ app, api, now, fetch }: FiguresOptions<F>) {
    this.app = app;
    this.#api = api;
    this.range = presetRange('30', now);
    this.#fetch = fetch;
  }

  async load(): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.loading = true;
    this.message = '';
    this.exportFailure = null;
    const outcome = await this.#fetch({ ...this.range, grouping: this.grouping });
    if (turn !== this.#turn) return;
    this.loading = false;
    this.failure = outcome.ok ? null : outcome.failure;
    this.figures = outcome.ok ? outcome.value : null;
  }

  async chooseRange(range: Range): Promise<void> {
    this.range = range;
    await this.load();
  }

  /** Only these days, by definition: what a column of the chart was made of. */
  async showDays(range: Range): Promise<void> {
    this.grouping = 'definition';
    await this.chooseRange(range);
  }

  async chooseGrouping(grouping: Grouping): Promise<void> {
    this.grouping = grouping;
    await this.load();
  }

  /** After a sign-out or a change of the connection: neither the last answer nor a pending one is shown. */
  clear(): void {
    this.#turn += 1;
    this.loading = false;
    this.figures = null;
    this.failure = null;
    this.message = '';
    this.exportFailure = null;
  }

  async exportCsv(): Promise<void> {
    const { figures } = this;
    if (figures === null) return;
    this.#showExport(await this.#api.call('reports.export', { reportId: figures.reportId }));
  }

  async exportChart(png: string): Promise<void> {
    const { figures } = this;
    if (figures === null) return;
    this.#showExport(await this.#api.call('reports.exportChart', { reportId: figures.reportId, png }));
  }

  #showExport(outcome: Outcome<{ name: string; escaped: number } | null>): void {
    this.exportFailure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok || outcome.value === null) return;
    const { name, escaped } = outcome.value;
    const cells = escaped === 1 ? '1 cell' : `${escaped} cells`;
    this.message =
      escaped === 0 ? `Saved as ${name}.` : `Saved as ${name}; ${cells} made safe for spreadsheets.`;
  }
}

export type ReportsTab = 'account' | 'workstation' | 'access' | 'tools';

interface ReportsOptions {
  app: AppStore;
  api: Api;
  /** Opens the page on which a failed request can be tried again. */
  onretry: (retry: Retry) => void;
  now?: () => number;
}

/** The account's figures and failed requests, the workstation's own figures, and the tool server. Holds no secret. */
export class ReportsController {
  readonly app: AppStore;
  readonly account: FiguresView<Metrics>;
  readonly workstation: FiguresView<Workstation>;
  readonly failures: FailedRequestsView;
  readonly access: AccessView;
  /** Transfers against the limit; null where there is no connection. */
  usage = $state.raw<Usage | null>(null);
  tab = $state<ReportsTab>('account');

  /** Null until the main process has answered. */
  portal = $state.raw<PortalSession | null>(null);
  portalFailure = $state.raw<Failure | null>(null);

  tools = $state.raw<ToolServer | null>(null);
  toolsFailure = $state.raw<Failure | null>(null);
  checking = $state(false);
  configurationMessage = $state('');

  evidenceCase = $state('');
  evidence = $state.raw<({ caseReference: string } & Evidence) | null>(null);
  evidenceFailure = $state.raw<Failure | null>(null);

  readonly #api: Api;
  readonly #onretry: ReportsOptions['onretry'];
  #connection: string | null = null;

  constructor({ app, api, onretry, now = Date.now }: ReportsOptions) {
    this.app = app;
    this.#api = api;
    this.#onretry = onretry;
    this.account = new FiguresView({
      app,
      api,
      now: now(),
      fetch: (query) => this.#reloadPortalIfEnded(api.call('reports.metrics', query)),
    });
    this.workstation = new FiguresView({
      app,
      api,
      now: now(),
      fetch: (query) => api.call('reports.workstation', query),
    });
    this.failures = new FailedRequestsView(api, () => this.account.range);
    this.access = new AccessView(api, now());
  }

  /** Called when the page opens and when another connection is chosen. Answers for the previous connection are dropped. */
  async show(): Promise<void> {
    const connection = this.app.connection?.id ?? null;
    if (connection !== this.#connection) {
      this.#connection = connection;
      this.portal = null;
      this.tools = null;
      this.toolsFailure = null;
      this.account.clear();
      this.failures.clear();
    }
    await this.load();
  }

  async choose(tab: ReportsTab): Promise<void> {
    this.tab = tab;
    await this.load();
  }

  async load(): Promise<void> {
    if (this.tab === 'access') return this.access.load();
    void this.#loadUsage();
    if (this.tab === 'workstation') return this.workstation.load();
    if (this.app.connection === null) return;
    if (this.portal === null) await this.#loadPortal();
    if (this.tab === 'tools') {
      if (this.tools === null) await this.checkTools();
    } else if (this.portal?.state === 'signed-in') {
      await this.loadAccount();
    }
  }

  async loadAccount(): Promise<void> {
    await Promise.all([this.account.load(), this.failures.load()]);
    // A 401 to either request ends the sign-in.
    if (this.failures.failure?.code === 'portal.expired') await this.#loadPortal();
  }

  /** The password is passed on and stored nowhere. */
  async signIn(user: string, password: ObscuredText): Promise<Failure | null> {
    return await this.#showSignIn(this.#api.call('reports.signIn', { user, password }));
  }

  async signInBuiltIn(): Promise<Failure | null> {
    return await this.#showSignIn(this.#api.call('reports.signInBuiltIn', {}));
  }

  async useToken(token: ObscuredText): Promise<Failure | null> {
    return await this.#showSignIn(this.#api.call('reports.useToken', { token }));
  }

  async signOut(): Promise<void> {
    const outcome = await this.#api.call('reports.signOut', {});
    this.portalFailure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return;
    this.portal = outcome.value;
    this.account.clear();
    this.failures.clear();
    this.tools = null;
  }

  async checkTools(): Promise<void> {
    this.checking = true;
    const outcome = await this.#api.call('reports.toolServer', {});
    this.checking = false;
    this.configurationMessage = '';
    this.toolsFailure = outcome.ok ? null : outcome.failure;
    this.tools = outcome.ok ? outcome.value : null;
    if (outcome.ok && outcome.value.state === 'sign-in') await this.#loadPortal();
  }

  async copyConfiguration(form: ConfigurationForm, withToken: boolean): Promise<void> {
    const transport = this.tools?.transport ?? null;
    const message = withToken
      ? 'Copied with the token. Whoever has it is you, until it ends.'
      : 'Copied. Put the JWT where <JWT_TOKEN> stands.';
    await this.#copy({ what: 'configuration', form, transport, withToken }, message);
  }

  async copyAuthorities(): Promise<void> {
    await this.#copy({ what: 'authorities' }, 'Copied. Save it as a .pem file that the client trusts.');
  }

  async #copy(input: CallInput<'reports.copy'>, message: string): Promise<void> {
    const outcome = await this.#api.call('reports.copy', input);
    this.toolsFailure = outcome.ok ? null : outcome.failure;
    this.configurationMessage = outcome.ok ? message : '';
  }

  async writeEvidence(caseReference: string): Promise<void> {
    const reference = caseReference.trim();
    if (reference === '') return;
    this.evidence = null;
    const outcome = await this.#api.call('reports.evidence', { caseReference: reference });
    this.evidenceFailure = outcome.ok ? null : outcome.failure;
    if (outcome.ok && outcome.value !== null) this.evidence = { caseReference: reference, ...outcome.value };
  }

  tryAgain(failure: FailedRequest): void {
    const retry = retryOf(failure);
    if (retry !== null) this.#onretry(retry);
  }

  async #loadUsage(): Promise<void> {
    const outcome = this.app.connection === null ? null : await this.#api.call('reports.usage', {});
    this.usage = outcome?.ok === true ? outcome.value : null;
  }

  async #loadPortal(): Promise<void> {
    const outcome = await this.#api.call('reports.portal', {});
    this.portal = outcome.ok ? outcome.value : null;
    this.portalFailure = outcome.ok ? null : outcome.failure;
  }

  async #showSignIn(call: Promise<Outcome<PortalSession>>): Promise<Failure | null> {
    const outcome = await call;
    this.portalFailure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return outcome.failure;
    this.portal = outcome.value;
    this.tools = null;
    await this.load();
    return null;
  }

  async #reloadPortalIfEnded(call: Promise<Outcome<Metrics>>): Promise<Outcome<Metrics>> {
    const outcome = await call;
    if (
      !outcome.ok &&
      (outcome.failure.code === 'portal.expired' || outcome.failure.code === 'portal.sign-in')
    ) {
      await this.#loadPortal();
    }
    return outcome;
  }
}
