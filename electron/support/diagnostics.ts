import type { FileName } from '../contract/models/fields.ts';
import { shownName } from '../privacy/file-names.ts';
import fs from 'node:fs/promises';
import os from 'node:os';
import type { AppState } from '../contract/models/app.ts';
import type { Audit } from '../audit/audit.ts';
import type { Clients } from '../connections/clients.ts';
import type { Handlers } from '../contract/calls.ts';
import { done, failed, type Failure, type Outcome } from '../contract/errors.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { Connections } from '../connections/store.ts';
import type { Keychain } from '../storage/keychain.ts';
import type { Log } from '../log/log.ts';
import type { Platform } from '../platform/platform.ts';
import { writeFileAtomically } from '../storage/atomic-file.ts';

export interface DiagnosticsOptions {
  readonly platform: Pick<Platform, 'version' | 'home' | 'proxyFor' | 'chooseTarget'>;
  readonly connections: Pick<Connections, 'active' | 'find' | 'list'>;
  readonly clients: () => Pick<Clients, 'for'>;
  readonly keychain: Pick<Keychain, 'state'>;
  readonly audit: Pick<Audit, 'state' | 'record'>;
  readonly settingsDamage: () => AppState['settingsDamage'];
  readonly log: Pick<Log, 'tail'>;
  /** Names of the settings that an administrator has fixed. */
  readonly managed: () => readonly string[];
  readonly now: () => Date;
}

const maxLogLines = 100;

/**
 * One text for whoever helps: versions, the machine, keyring, disk, the connection in use and the last lines of the
 * log. It names no host, user, file of a person's or value, and what is saved is what was shown.
 */
export function createDiagnosticsHandlers(
  options: DiagnosticsOptions,
): Pick<Handlers<'app'>, 'app.diagnostics' | 'app.saveDiagnostics'> {
  let shown: string | null = null;

  async function save(text: string): Promise<Outcome<{ name: FileName } | null>> {
    const day = options.now().toISOString().slice(0, 10);
    const target = await options.platform.chooseTarget({
      name: `tokendesk-diagnostics-${day}.txt`,
      beside: null,
    });
    if (target === null) return done(null);
    const saved = await options.audit.record({ action: 'SaveDiagnostics' }, () =>
      writeFileAtomically(target, text),
    );
    return saved.ok ? done({ name: shownName(target) }) : saved;
  }

  return {
    async 'app.diagnostics'() {
      shown = await describe(options);
      return done({ text: shown });
    },
    'app.saveDiagnostics': async () => (shown === null ? failed('report.unknown') : save(shown)),
  };
}

async function describe(options: DiagnosticsOptions): Promise<string> {
  const { platform, keychain, audit, connections, settingsDamage, log, managed, now } = options;
  // Loaded here, as the certificates are: a start has no use for TLS, which takes 10 ms to load.
  const { getCACertificates } = await import('node:tls');
  const fixed = managed();
  const active = connections.active();
  const connection = active === null ? null : connections.find(active.connectionId);
  const sections: Readonly<Record<string, readonly string[]>> = {
    Versions: [
      `Tokendesk ${platform.version}`,
      ...['electron', 'chrome', 'node'].flatMap((name) => {
        const version = process.versions[name];
        return version === undefined ? [] : [`${name} ${version}`];
      }),
    ],
    System: [
      `${process.platform} ${os.release()}, ${process.arch}`,
      `${os.availableParallelism()} processors, ${inGigabytes(os.totalmem())} memory`,
      ...['XDG_SESSION_TYPE', 'XDG_CURRENT_DESKTOP'].flatMap((name) => {
        const value = process.env[name] ?? '';
        // Words that a desktop gives itself; anything else is left out.
        return /^[A-Za-z:-]{1,40}$/.test(value) ? [`${name}: ${value}`] : [];
      }),
    ],
    State: [
      `keyring: ${keychain.state()}`,
      `audit log: ${audit.state()}`,
      `settings: ${settingsDamage()?.reason ?? 'read'}`,
      `managed settings: ${fixed.length === 0 ? 'none' : fixed.join(', ')}`,
      `disk: ${await freeSpace(platform.home)}`,
      `system's certificates: ${getCACertificates('system').length}`,
    ],
    [`Connections: ${connections.list().length}`]:
      active === null || connection?.ok !== true
        ? ['none in use']
        : await describeConnection(options, connection.value, active.policy),
    [`Log, last ${maxLogLines} lines`]: log.tail(maxLogLines),
  };
  const body = Object.entries(sections).map(
    ([title, lines]) => `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`,
  );
  const head = `Tokendesk diagnostics, ${now().toISOString()}\nNo host, user, value, secret or file is named in it.\n`;
  return [head, ...body].join('\n');
}

/** What lies between the app and the service, and how far a session gets. The session is audited as any other. */
async function describeConnection(
  { platform, clients }: Pick<DiagnosticsOptions, 'platform' | 'clients'>,
  connection: Connection,
  policy: string,
): Promise<string[]> {
  const { environment, builtIn, baseUrl, proxyUser, extraCa, clientCertificate } = connection;
  const proxy = builtIn ? null : await platform.proxyFor(baseUrl);
  const kind = proxy === null ? 'none' : (/^[a-z][a-z0-9+.-]*(?=:\/\/)/i.exec(proxy)?.[0] ?? 'unknown');
  const client = await clients().for(connection.id);
  const session = client.ok ? await client.value.openSession(policy) : client;
  return [
    `in use: ${builtIn ? 'the built-in service' : environment}`,
    `proxy: ${kind}${proxyUser === '' ? '' : ', with a sign-in'}`,
    `certificate authority of its own: ${extraCa === null ? 'no' : 'yes'}`,
    `client certificate: ${clientCertificate === null ? 'no' : 'yes'}`,
    `TLS: ${tlsResult(session.ok ? null : session.failure)}`,
    `session: ${session.ok ? 'opened' : describeFailure(session.failure)}`,
  ];
}

function tlsResult(failure: Failure | null): string {
  if (failure?.code === 'service.tls') return 'not accepted';
  // An answer with a status or a request ID came through TLS.
  const answered = failure === null || failure.status !== undefined || failure.requestId !== undefined;
  return answered ? 'verified' : 'not reached';
}

/** Its subject may be a host's name. */
function describeFailure({ code, status }: Failure): string {
  return status === undefined ? code : `${code}, status ${status}`;
}

async function freeSpace(folder: string): Promise<string> {
  try {
    const { bavail, blocks, bsize } = await fs.statfs(folder);
    return `${inGigabytes(bavail * bsize)} free of ${inGigabytes(blocks * bsize)}`;
  } catch {
    return 'not known';
  }
}

const inGigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
