import type { Audit } from '../audit/audit.ts';
import type { CallInput, CallName, CallOutput } from '../contract/calls.ts';
import { type Outcome, done, failed, type Failure } from '../contract/errors.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { MetricsQuery, MetricsRow } from '../contract/models/report.ts';
import { restoreText } from '../contract/obscured.ts';
import type { Keychain } from '../credentials/keychain.ts';
import { auditEntries } from '../evidence/case-chain.ts';
import { writeEvidence } from '../evidence/evidence.ts';
import type { ReportingProfile } from '../service/profile.ts';
import { readFailedRequests, supportBundle } from './failed-requests.ts';
import { readMetrics } from './metrics.ts';
import type { PortalHttp } from './portal-http.ts';
import { createAnswers, askPortal } from './portal.ts';
import { exportChart, exportCsv } from './report-files.ts';
import { createPortalTokens, signIn } from './sign-in.ts';
import { checkToolServer, clientConfiguration } from './tool-server.ts';
import { countWorkstation } from './workstation.ts';

/** The connection in use, and the way to its portal. */
export interface ReportedConnection {
  readonly connection: Connection;
  readonly http: PortalHttp;
}

/** What the reports room is handed. */
export interface ReportParts {
  readonly active: () => Promise<Outcome<ReportedConnection>>;
  readonly keychain: Pick<Keychain, 'store' | 'read' | 'remove' | 'peek' | 'key'>;
  readonly audit: Pick<Audit, 'begin' | 'list'>;
  /** Where the audit log lies. */
  readonly auditFolder: string;
  readonly profile: ReportingProfile;
  /**
   * A portal user of the embedded service, which nobody can know the password of. Failure for any other connection:
   * portal.credentials.
   */
  readonly builtInUser: (connectionId: string) => Promise<Outcome<{ user: string; password: string }>>;
  /** Of the application, for support and evidence. */
  readonly version: string;
  readonly clipboard: { write(text: string): Promise<Outcome<{ clearAfterMs: number }>> };
  /** Asks where to write; null when the person changed their mind. */
  readonly chooseTarget: (suggestion: { name: string; beside: string | null }) => Promise<string | null>;
  readonly now: () => Date;
  readonly newId: () => string;
}

const day = 86_400_000;

export const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

/** The same number of days, ending the day before; days are UTC. */
export function previousPeriod({ from, to, grouping }: MetricsQuery): MetricsQuery {
  const days = Math.round((Date.parse(to) - Date.parse(from)) / day) + 1;
  const back = (text: string): string => dayOf(new Date(Date.parse(text) - days * day));
  return { from: back(from), to: back(to), grouping };
}

/** Requests and failures of all groups together; failures null as soon as one group does not tell. */
export function sumsOf(rows: readonly { requests: number; failed: number | null }[]): {
  requests: number;
  failed: number | null;
} {
  let requests = 0;
  let failed: number | null = 0;
  for (const row of rows) {
    requests += row.requests;
    failed = failed === null || row.failed === null ? null : failed + row.failed;
  }
  return { requests, failed };
}

type ReportsCallName = Extract<CallName, `reports.${string}`>;

/** The reports room: one method for each `reports.*` call of the contract, under the same input and output. */
export type ReportsCalls = {
  readonly [N in ReportsCallName]: (input: CallInput<N>) => Promise<Outcome<CallOutput<N>>>;
};

export function openReports(parts: ReportParts): ReportsCalls {
  const { audit, profile } = parts;
  const tokens = createPortalTokens(parts);
  const answers = createAnswers();

  /** A question that needs the sign-in; 401 ends it (spec §5). Names of the account go along. */
  async function ask(
    reported: ReportedConnection,
    operation: 'AggregateApiRequestMetrics' | 'QueryLastFailedRequests',
    path: string,
    body: Readonly<Record<string, unknown>>,
    note: string,
  ): Promise<Outcome<{ json: unknown; requestId: string }>> {
    const { accountId, tenantId } = reported.connection;
    if (accountId === '' || tenantId === '') return failed('portal.account-missing');
    const token = await tokens.token(reported.connection);
    if (!token.ok) return token;
    const answer = await askPortal(reported, audit, { operation, path, body, token: token.value, note });
    if (!answer.ok && answer.failure.code === 'portal.expired') {
      await tokens.refused(reported.connection, token.value);
    }
    return answer;
  }

  async function askMetrics(
    reported: ReportedConnection,
    { from, to, grouping }: MetricsQuery,
  ): Promise<Outcome<{ rows: MetricsRow[]; requestId: string }>> {
    const { path, request, groupBy } = profile.metrics;
    const { accountId, tenantId } = reported.connection;
    const body = {
      [request.accountId]: accountId,
      [request.tenantId]: tenantId,
      [request.startDate]: from,
      [request.endDate]: to,
      [request.groupBy]: groupBy[grouping],
    };
    const answer = await ask(
      reported,
      'AggregateApiRequestMetrics',
      path,
      body,
      `${from} to ${to} by ${grouping}`,
    );
    if (!answer.ok) return answer;
    const { json, requestId } = answer.value;
    const rows = readMetrics(json, profile.metrics);
    return rows.ok
      ? done({ rows: rows.value, requestId })
      : named(rows, 'AggregateApiRequestMetrics', requestId);
  }

  const named = (
    outcome: { ok: false; failure: Failure },
    operation: string,
    requestId: string,
  ): Outcome<never> => ({
    ok: false,
    failure: { ...outcome.failure, operation, ...(requestId !== '' && { requestId }) },
  });

  return {
    'reports.portal': async () => {
      const reported = await parts.active();
      return reported.ok ? tokens.session(reported.value.connection) : reported;
    },

    'reports.signIn': async (input) => {
      const reported = await parts.active();
      if (!reported.ok) return reported;
      return signIn({ audit, tokens, profile: profile.authenticate }, reported.value, {
        user: input.user,
        password: restoreText(input.password),
      });
    },

    'reports.signInBuiltIn': async () => {
      const reported = await parts.active();
      if (!reported.ok) return reported;
      const user = await parts.builtInUser(reported.value.connection.id);
      if (!user.ok) return user;
      return signIn({ audit, tokens, profile: profile.authenticate }, reported.value, user.value);
    },

    'reports.useToken': async ({ token }) => {
      const reported = await parts.active();
      if (!reported.ok) return reported;
      const { connection } = reported.value;
      const { name, environment } = connection;
      const begun = await audit.begin({ action: 'UsePortalToken', connection: name, environment });
      if (!begun.ok) return begun;
      const kept = await tokens.keep(
        connection,
        restoreText(token)
          .trim()
          .replace(/^Bearer\s+/i, ''),
      );
      begun.value(kept.ok ? { ok: true } : { ok: false, code: kept.failure.code });
      return kept;
    },

    'reports.signOut': async () => {
      const reported = await parts.active();
      if (!reported.ok) return reported;
      const forgotten = await tokens.forget(reported.value.connection);
      answers.clear();
      return forgotten.ok ? tokens.session(reported.value.connection) : forgotten;
    },

    'reports.metrics': async (query) => {
      const reported = await parts.active();
      if (!reported.ok) return reported;
      const [now, before] = await Promise.all([
        askMetrics(reported.value, query),
        // Only its sums are wanted: the grouping with the fewest groups will do.
        askMetrics(reported.value, { ...previousPeriod(query), grouping: 'operation' }),
      ]);
      if (!now.ok) return now;
      const { rows, requestId } = now.value;
      const reportId = parts.newId();
      const previous = before.ok ? sumsOf(before.value.rows) : null;
      const metrics = { reportId, query, rows, ...sumsOf(rows), previous, requestId };
      answers.keep(reportId, { kind: 'metrics', where: reported.value.connection.name, figures: metrics });
      return done(metrics);
    },

    'reports.failures': async ({ max }) => {
      const reported = await parts.active();
      if (!reported.ok) return reported;
      const { path, request } = profile.failures;
      const { accountId, tenantId, name } = reported.value.connection;
      const body = { [request.accountId]: accountId, [request.tenantId]: tenantId, [request.max]: max };
      const answer = await ask(reported.value, 'QueryLastFailedRequests', path, body, `last ${max}`);
      if (!answer.ok) return answer;
      const { json, requestId } = answer.value;
      const failures = readFailedRequests(json, profile.failures);
      if (!failures.ok) return named(failures, 'QueryLastFailedRequests', requestId);
      const list = { reportId: parts.newId(), failures: failures.value, requestId };
      answers.keep(list.reportId, { kind: 'failures', where: name, list });
      return done(list);
    },

    'reports.workstation': async (query) => {
      const { chain } = await audit.list({ before: null, limit: 1, caseReference: null });
      const entries = auditEntries(parts.auditFolder, previousPeriod(query).from);
      const counted = await countWorkstation(entries, query, chain.state);
      const reportId = parts.newId();
      const { rows, requests, failed: failures, previous } = counted;
      const figures = { reportId, query, rows, requests, failed: failures, previous };
      answers.keep(reportId, { kind: 'metrics', where: 'workstation', figures });
      return done({ reportId, ...counted });
    },

    'reports.toolServer': async () => {
      const reported = await parts.active();
      if (!reported.ok) return reported;
      const { connection, http } = reported.value;
      const token = await tokens.token(connection);
      const { name, environment } = connection;
      const begun = await audit.begin({ action: 'CheckToolServer', connection: name, environment });
      if (!begun.ok) return begun;
      const found = await checkToolServer(connection.baseUrl, http, token.ok ? token.value : null);
      const code = found.failure?.code;
      begun.value({ ok: code === undefined, ...(code !== undefined && { code }), note: found.state });
      if (token.ok && code === 'portal.expired') await tokens.refused(connection, token.value);
      return done(found);
    },

    'reports.copy': async (input) => {
      const reported = await parts.active();
      if (!reported.ok) return reported;
      const { connection } = reported.value;
      if (input.what === 'configuration')
        return parts.clipboard.write(clientConfiguration(connection.baseUrl));
      const answer = answers.find(input.reportId);
      if (!answer.ok) return answer;
      const failure = answer.value.kind === 'failures' ? answer.value.list.failures[input.index] : undefined;
      if (failure === undefined) return failed('report.unknown');
      const where = { connection: connection.name, accountId: connection.accountId, version: parts.version };
      return parts.clipboard.write(supportBundle(failure, where));
    },

    'reports.export': async ({ reportId }) => {
      const answer = answers.find(reportId);
      return answer.ok ? exportCsv(parts, answer.value) : answer;
    },

    'reports.exportChart': async ({ reportId, png }) => {
      const answer = answers.find(reportId);
      return answer.ok ? exportChart(parts, answer.value, png) : answer;
    },

    'reports.evidence': ({ caseReference }) => writeEvidence(parts, caseReference),
  };
}
