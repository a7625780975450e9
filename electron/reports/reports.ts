import { uncoverText } from '../contract/covered.ts';
import type { CallInput, CallName, CallOutput } from '../contract/calls.ts';
import { done, failed, type Failure, type Outcome } from '../contract/errors.ts';
import type { MetricsQuery, MetricsRow } from '../contract/models/report.ts';
import { createAnswers } from './answers.ts';
import { askPortal } from './ask-portal.ts';
import { auditEntries } from './audit-lines.ts';
import { exportChart, exportCsv } from './export-report.ts';
import { previousPeriod } from './period.ts';
import { createPortalTokens } from './portal-tokens.ts';
import { readFailedRequests } from './read-failed-requests.ts';
import { readMetrics } from './read-metrics.ts';
import type { ReportedConnection, ReportParts } from './report-parts.ts';
import { signIn } from './sign-in.ts';
import { sumsOf } from './sums.ts';
import { supportBundle } from './support-bundle.ts';
import { checkToolServer, clientConfiguration } from './tool-server.ts';
import { countWorkstation } from './workstation.ts';
import { writeEvidence } from './write-evidence.ts';

type ReportsCallName = Extract<CallName, `reports.${string}`>;

/** The reports room: one method for each `reports.*` call of the contract, under the same input and output. */
export type ReportsRoom = {
  readonly [N in ReportsCallName]: (input: CallInput<N>) => Promise<Outcome<CallOutput<N>>>;
};

export function openReports(parts: ReportParts): ReportsRoom {
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
        password: uncoverText(input.password),
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
        uncoverText(token)
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
