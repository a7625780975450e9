import type { Protocol, Session } from 'electron';
import { openBundle } from './bundle-files.ts';

const scheme = 'app';
/** The window's origin under Electron. Never `file://`, which has more rights than a page needs. */
export const electronOrigin = `${scheme}://desk`;

/** Before Electron is ready, once. No `bypassCSP`, no service workers; compiled scripts are kept. */
export function registerScheme(protocol: Pick<Protocol, 'registerSchemesAsPrivileged'>): void {
  protocol.registerSchemesAsPrivileged([
    { scheme, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ]);
}

/** Answers `app://desk/…` in this session from the folder of the built window. */
export async function serveBundle(session: Pick<Session, 'protocol'>, folder: string): Promise<void> {
  const bundle = await openBundle(folder, electronOrigin);
  session.protocol.handle(scheme, async ({ url, method }) => {
    const { status, headers, body } = await bundle(url, method);
    return new Response(body, { status, headers: { ...headers } });
  });
}
