import type { ObscuredText } from '../../../electron/contract/obscured.ts';
import type { Failure, Outcome } from '../../../electron/contract/errors.ts';
import type {
  Evidence,
  FailedRequest,
  Metrics,
  PortalSession,
  ToolServer,
  Workstation,
} from '../../../electron/contract/models/report.ts';
import type { AppStore } from '../../app-store.svelte.ts';
import { retryOf, type Retry } from './failure-help.ts';
import { FailuresView } from './failures-view.svelte.ts';
import { FiguresView } from './figures-view.svelte.ts';

export type ReportsTab = 'account' | 'workstation' | 'tools';

/** The account's numbers and failures, this workstation's own, and the tool server. Never holds a secret. */
export class ReportsController {
  readonly app: AppStore;
  readonly account: FiguresView<Metrics>;
  readonly station: FiguresView<Workstation>;
  readonly failures: FailuresView;
  tab = $state<ReportsTab>('account');

  /** Null until main was asked. */
  portal = $state.raw<PortalSession | null>(null);
  portalFailure = $state.raw<Failure | null>(null);

  tools = $state.raw<ToolServer | null>(null);
  toolsFailure = $state.raw<Failure | null>(null);
  checking = $state(false);
  configurationSaid = $state('');

  evidenceCase = $state('');
  evidence = $state.raw<{ caseReference: string; made: Evidence } | null>(null);
  evidenceFailure = $state.raw<Failure | null>(null);

  readonly #retry: (retry: Retry) => void;
  #connection: string | null = null;

  constructor(app: AppStore, retry: (retry: Retry) => void, now: () => number = Date.now) {
    this.app = app;
    this.#retry = retry;
    this.account = new FiguresView(app, now(), (query) =>
      this.#whileSignedIn(app.api.call('reports.metrics', query)),
    );
    this.station = new FiguresView(app, now(), (query) => app.api.call('reports.workstation', query));
    this.failures = new FailuresView(app);
  }

  /** Called when the page opens and when another connection is chosen; what was asked of the one before is dropped. */
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
    if (this.tab === 'workstation') {
      await this.station.load();
      return;
    }
    if (this.app.connection === null) return;
    if (this.portal === null) await this.#askPortal();
    if (this.tab === 'tools') {
      if (this.tools === null) await this.checkTools();
    } else if (this.portal?.state === 'signed-in') {
      await this.loadAccount();
    }
  }

  async loadAccount(): Promise<void> {
    await Promise.all([this.account.load(), this.failures.load()]);
    // 401 to one of them ends the sign-in for both.
    if (this.failures.failure?.code === 'portal.expired') await this.#askPortal();
  }

  /** The password goes straight through; nothing here keeps it. */
  async signIn(user: string, password: ObscuredText): Promise<Failure | null> {
    return await this.#signedIn(this.app.api.call('reports.signIn', { user, password }));
  }

  async signInBuiltIn(): Promise<Failure | null> {
    return await this.#signedIn(this.app.api.call('reports.signInBuiltIn', {}));
  }

  async useToken(token: ObscuredText): Promise<Failure | null> {
    return await this.#signedIn(this.app.api.call('reports.useToken', { token }));
  }

  async signOut(): Promise<void> {
    const outcome = await this.app.api.call('reports.signOut', {});
    this.portalFailure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return;
    this.portal = outcome.value;
    this.account.clear();
    this.failures.clear();
    this.tools = null;
  }

  async checkTools(): Promise<void> {
    this.checking = true;
    const outcome = await this.app.api.call('reports.toolServer', {});
    this.checking = false;
    this.configurationSaid = '';
    this.toolsFailure = outcome.ok ? null : outcome.failure;
    this.tools = outcome.ok ? outcome.value : null;
    if (outcome.ok && outcome.value.state === 'sign-in') await this.#askPortal();
  }

  async copyConfiguration(): Promise<void> {
    const outcome = await this.app.api.call('reports.copy', { what: 'configuration' });
    this.toolsFailure = outcome.ok ? null : outcome.failure;
    if (outcome.ok) this.configurationSaid = 'Copied. Put the JWT where <JWT_TOKEN> stands.';
  }

  async writeEvidence(caseReference: string): Promise<void> {
    const reference = caseReference.trim();
    if (reference === '') return;
    this.evidence = null;
    const outcome = await this.app.api.call('reports.evidence', { caseReference: reference });
    this.evidenceFailure = outcome.ok ? null : outcome.failure;
    if (outcome.ok && outcome.value !== null)
      this.evidence = { caseReference: reference, made: outcome.value };
  }

  tryAgain(failure: FailedRequest): void {
    const retry = retryOf(failure);
    if (retry !== null) this.#retry(retry);
  }

  async #askPortal(): Promise<void> {
    const outcome = await this.app.api.call('reports.portal', {});
    this.portal = outcome.ok ? outcome.value : null;
    this.portalFailure = outcome.ok ? null : outcome.failure;
  }

  async #signedIn(asked: Promise<Outcome<PortalSession>>): Promise<Failure | null> {
    const outcome = await asked;
    this.portalFailure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return outcome.failure;
    this.portal = outcome.value;
    this.tools = null;
    await this.load();
    return null;
  }

  async #whileSignedIn(asked: Promise<Outcome<Metrics>>): Promise<Outcome<Metrics>> {
    const outcome = await asked;
    if (
      !outcome.ok &&
      (outcome.failure.code === 'portal.expired' || outcome.failure.code === 'portal.sign-in')
    ) {
      await this.#askPortal();
    }
    return outcome;
  }
}
