import type { Audit } from '../audit/audit.ts';
import type { Handlers } from '../contract/calls.ts';
import { type Outcome, done, failed, type Failure } from '../contract/errors.ts';
import { configurationForm, type MetricsQuery, type MetricsRow } from '../contract/models/report.ts';
import { restoreText } from '../contract/obscured.ts';
import type { Keychain } from '../storage/keychain.ts';
import { auditEntries } from '../evidence/case-chain.ts';
import { writeEvidence } from '../evidence/evidence.ts';
import type { AutoClearClipboard } from '../privacy/clipboard.ts';
import { monthOf, readAccess } from './access.ts';
import { readFailedRequests, supportBundle } from '../portal/failed-requests.ts';
import { readAllPages } from '../portal/metrics.ts';
import { askPortal, formatDay, type PortalQuestion, type ReportedConnection } from '../portal/portal.ts';
import { dayMs, dayOf, previousPeriod, sumsOf } from './period.ts';
import { exportChart, exportCsv, type Report } from './report-files.ts';
import { addressOf, createPortalTokens, signIn } from '../portal/sign-in.ts';
import { clientConfiguration } from './client-configuration.ts';
import { checkToolServer } from './tool-server.ts';
import { fingerprintsOf } from '../service/http/certificates.ts';
import { createExportedFiles } from '../storage/exported-files.ts';
import type { TransfersRecord } from '../service/limits/transfers.ts';
import { usageOf } from './usage.ts';
import { countWorkstation } from './workstation.ts';

export interface ReportsOptions {
  readonly active: () => Promise<Outcome<ReportedConnection>>;
  readonly keychain: Pick<Keychain, 'store' | 'read' | 'remove' | 'peek' | 'key'>;
  readonly audit: Pick<Audit, 'record' | 'list'>;
  /** Where the audit log lies. */
  readonly auditFolder: string;
  /**
   * A portal user of the built-in service, whose password nobody can know. Failure for any other connection:
   * portal.credentials.
   */
  readonly builtInUser: (connectionId: string) => Promise<Outcome<{ user: string; password: string }>>;
  /** Of the application, for support and evidence. */
  readonly version: string;
  readonly clipboard: Pick<AutoClearClipboard, 'epoch' | 'write'>;
  /** Asks where to write; null when the person changed their mind. */
  readonly chooseTarget: (suggestion: { name: string; beside: string | null }) => Promise<string | null>;
  /** Shows a file in the system's file manager; false where there is none. */
  readonly showInFolder: (file: string) => boolean;
  /** The transfers that were counted for a connection, by the hour. */
  readonly transfers: (connectionId: string) => TransfersRecord['hours'];
  readonly now: () => Date;
  readonly newId: () => string;
}

const maxReports = 20;

/** The last reports, by their id. */
function createRecentReports() {
  const reports = new Map<string, Report>();
  return {
    add(reportId: string, report: Report): void {
      reports.set(reportId, report);
      for (const oldest of [...reports.keys()].slice(0, reports.size - maxReports)) reports.delete(oldest);
    },
    /** Failure: report.unknown. */
    find(reportId: string): Outcome<Report> {
      const report = reports.get(reportId);
      return report === undefined ? failed('report.unknown') : done(report);
    },
    clear: () => reports.clear(),
  };
}

/** The handlers of the `reports.*` calls. */
export function openReports(options: ReportsOptions): Handlers<'reports'> {
  const { audit } = options;
  const tokens = createPortalTokens(options);
  const recent = createRecentReports();
  const evidenceFiles = createExportedFiles(options.showInFolder);

  /** A question that needs the sign-in; 401 ends it (spec §5). It names the account. */
  async function ask(
    reported: ReportedConnection,
    question: Omit<PortalQuestion, 'token'>,
  ): Promise<Outcome<{ json: unknown; requestId: string }>> {
    const { accountId, tenantId } = reported.connection;
    if (accountId === '' || tenantId === '') return failed('portal.account-missing');
    const token = await tokens.token(reported.connection);
    if (!token.ok) return token;
    const answer = await askPortal(reported, audit, { ...question, token: token.value });
    if (!answer.ok && answer.failure.code === 'portal.expired') {
      await tokens.refused(reported.connection, token.value);
    }
    return answer;
  }

  async function askMetrics(
    reported: ReportedConnection,
    { from, to, grouping }: MetricsQuery,
  ): Promise<Outcome<{ rows: MetricsRow[]; requestId: string }>> {
    const { metrics } = reported.profile.reporting;
    const { method, path, request, groupBy, dates } = metrics;
    const { accountId, tenantId } = reported.connection;
    const operation = 'AggregateApiRequestMetrics';
    const read = await readAllPages(metrics, (page) =>
      ask(reported, {
        operation,
        method,
        path,
        body: {
          [request.accountId]: accountId,
          [request.tenantId]: tenantId,
          [request.startDate]: formatDay(from, dates, 'start'),
          [request.endDate]: formatDay(to, dates, 'end'),
          [request.groupBy]: groupBy[grouping],
          ...page,
        },
        note: `${from} to ${to} by ${grouping}`,
      }),
    );
    if (!read.ok) return read;
    const { rows, requestId } = read.value;
    return rows.ok ? done({ rows: rows.value, requestId }) : withDetails(rows, operation, requestId);
  }

  const withDetails = (
    outcome: { ok: false; failure: Failure },
    operation: string,
    requestId: string,
  ): Outcome<never> => ({
    ok: false,
    failure: { ...outcome.failure, operation, ...(requestId !== '' && { requestId }) },
  });

  return {
    'reports.portal': async () => {
      const reported = await options.active();
      return reported.ok ? tokens.session(addressOf(reported.value)) : reported;
    },

    'reports.signIn': async (input) => {
      const reported = await options.active();
      if (!reported.ok) return reported;
      return signIn(
        reported.value,
        { audit, tokens },
        {
          user: input.user,
          password: restoreText(input.password),
        },
      );
    },

    'reports.signInBuiltIn': async () => {
      const reported = await options.active();
      if (!reported.ok) return reported;
      const user = await options.builtInUser(reported.value.connection.id);
      if (!user.ok) return user;
      return signIn(reported.value, { audit, tokens }, user.value);
    },

    'reports.useToken': async ({ token }) => {
      const reported = await options.active();
      if (!reported.ok) return reported;
      const { connection } = reported.value;
      const { name, environment } = connection;
      return audit.record({ action: 'UsePortalToken', connection: name, environment }, () =>
        tokens.store(
          addressOf(reported.value),
          restoreText(token)
            .trim()
            .replace(/^Bearer\s+/i, ''),
        ),
      );
    },

    'reports.signOut': async () => {
      const reported = await options.active();
      if (!reported.ok) return reported;
      const forgotten = await tokens.forget(reported.value.connection);
      recent.clear();
      return forgotten.ok ? tokens.session(addressOf(reported.value)) : forgotten;
    },

    'reports.metrics': async (query) => {
      const reported = await options.active();
      if (!reported.ok) return reported;
      const [now, before] = await Promise.all([
        askMetrics(reported.value, query),
        // Only its sums are used: the grouping with the fewest groups will do.
        askMetrics(reported.value, { ...previousPeriod(query), grouping: 'operation' }),
      ]);
      if (!now.ok) return now;
      const { rows, requestId } = now.value;
      const reportId = options.newId();
      const previous = before.ok ? sumsOf(before.value.rows) : null;
      const metrics = { reportId, query, rows, ...sumsOf(rows), previous, requestId };
      recent.add(reportId, { kind: 'metrics', source: reported.value.connection.name, figures: metrics });
      return done(metrics);
    },

    'reports.failures': async ({ max }) => {
      const reported = await options.active();
      if (!reported.ok) return reported;
      const { profile } = reported.value;
      const { method, path, request } = profile.reporting.failures;
      const { accountId, tenantId, name } = reported.value.connection;
      const operation = 'QueryLastFailedRequests';
      const body = { [request.accountId]: accountId, [request.tenantId]: tenantId, [request.max]: max };
      const answer = await ask(reported.value, { operation, method, path, body, note: `last ${max}` });
      if (!answer.ok) return answer;
      const { json, requestId } = answer.value;
      const failures = readFailedRequests(json, profile);
      if (!failures.ok) return withDetails(failures, operation, requestId);
      const list = { reportId: options.newId(), failures: failures.value, requestId };
      recent.add(list.reportId, { kind: 'failures', source: name, list });
      return done(list);
    },

    'reports.workstation': async (query) => {
      const { chain } = await audit.list({ before: null, limit: 1, caseReference: null });
      const entries = auditEntries(options.auditFolder, previousPeriod(query).from);
      const counted = await countWorkstation(entries, query, chain.state);
      const reportId = options.newId();
      const { rows, requests, failed: failures, previous } = counted;
      const figures = { reportId, query, rows, requests, failed: failures, previous };
      recent.add(reportId, { kind: 'metrics', source: 'workstation', figures });
      return done({ reportId, ...counted });
    },

    'reports.access': async ({ month }) => {
      const { chain } = await audit.list({ before: null, limit: 1, caseReference: null });
      // The log's files are told apart by UTC days.
      const entries = auditEntries(
        options.auditFolder,
        dayOf(new Date(monthOf(month).from.getTime() - dayMs)),
      );
      const reportId = options.newId();
      const access = { reportId, month, ...(await readAccess(entries, month)), chain: chain.state };
      recent.add(reportId, { kind: 'access', source: 'workstation', access });
      return done(access);
    },

    'reports.usage': async () => {
      const reported = await options.active();
      if (!reported.ok) return reported;
      const { id, transfersPerDay } = reported.value.connection;
      return done(usageOf(options.transfers(id), transfersPerDay, options.now()));
    },

    'reports.toolServer': async () => {
      const reported = await options.active();
      if (!reported.ok) return reported;
      const { connection, transport } = reported.value;
      const token = await tokens.token(connection);
      const { name, environment } = connection;
      return audit.record({ action: 'CheckToolServer', connection: name, environment }, async (add) => {
        const found = await checkToolServer(connection.baseUrl, transport, token.ok ? token.value : null);
        const code = found.failure?.code;
        // What can't be used is an answer of the check, and a failure of the act.
        add({ note: found.state, ...(code !== undefined && { ok: false, code }) });
        if (token.ok && code === 'portal.expired') await tokens.refused(connection, token.value);
        const session = await tokens.session(addressOf(reported.value));
        const { baseUrl, extraCa } = connection;
        const { transport: kind } = found;
        return done({
          ...found,
          configurations: configurationForm.options.map((form) => ({
            form,
            text: clientConfiguration({ baseUrl, form, transport: kind, hasAuthority: extraCa !== null }),
          })),
          authorities: fingerprintsOf(extraCa),
          tokenEnds: session.ok && session.value.state === 'signed-in' ? session.value.expires : null,
        });
      });
    },

    'reports.copy': async (input) => {
      const epoch = options.clipboard.epoch();
      const reported = await options.active();
      if (!reported.ok) return reported;
      const { connection } = reported.value;
      const { baseUrl, extraCa, name: named, environment } = connection;
      if (input.what === 'authorities') return options.clipboard.write(extraCa ?? '', epoch);
      if (input.what === 'configuration') {
        const { form, transport, withToken } = input;
        const about = { baseUrl, form, transport, hasAuthority: extraCa !== null };
        if (!withToken) return options.clipboard.write(clientConfiguration(about), epoch);
        const session = await tokens.session(addressOf(reported.value));
        if (session.ok && session.value.state === 'signed-in' && session.value.expires === null)
          return failed('portal.endless');
        const token = await tokens.token(connection);
        if (!token.ok) return token;
        const line = { action: 'CopyToolToken', connection: named, environment, note: form };
        return audit.record(line, () =>
          options.clipboard.write(clientConfiguration({ ...about, token: token.value }), epoch),
        );
      }
      const report = recent.find(input.reportId);
      if (!report.ok) return report;
      const failure = report.value.kind === 'failures' ? report.value.list.failures[input.index] : undefined;
      if (failure === undefined) return failed('report.unknown');
      const { name, accountId } = connection;
      const details = supportBundle(failure, { connection: name, accountId, version: options.version });
      return options.clipboard.write(details, epoch);
    },

    'reports.export': async ({ reportId }) => {
      const report = recent.find(reportId);
      return report.ok ? exportCsv(options, report.value) : report;
    },

    'reports.exportChart': async ({ reportId, png }) => {
      const report = recent.find(reportId);
      return report.ok ? exportChart(options, report.value, png) : report;
    },

    'reports.evidence': async ({ caseReference }) => {
      const written = await writeEvidence(options, caseReference);
      if (!written.ok) return written;
      if (written.value === null) return done(null);
      const { target, ...evidence } = written.value;
      return done({ ...evidence, evidenceId: evidenceFiles.add(target) });
    },
    'reports.showEvidence': ({ evidenceId }) => evidenceFiles.show(evidenceId),
  };
}
