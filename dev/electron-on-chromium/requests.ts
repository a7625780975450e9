import type * as Electron from 'electron';
import type { Session } from './browser.ts';
import type { Schemes, SessionParts } from './sessions.ts';

/*
 * The requests of a page, answered in place of the network: by the session's handlers, else with a failure.
 */

export interface RequestsOptions {
  readonly schemes: Schemes;
  readonly parts: SessionParts;
  readonly isMainFrame: (frameId: string) => boolean;
  /** Whether main itself loads this address; every other document is a navigation of the page's own. */
  readonly isLoading: (url: string) => boolean;
  /** Whether listeners let the page, or a frame in it, go there. */
  readonly mayNavigate: (url: string, isMainFrame: boolean) => boolean;
}

interface Paused {
  readonly requestId: string;
  readonly request: {
    readonly url: string;
    readonly method: string;
    readonly headers: Record<string, string>;
  };
  readonly resourceType: string;
  readonly frameId: string;
}

/** Answers what this target asks for from now on. */
export async function answerRequests(target: Session, options: RequestsOptions): Promise<void> {
  target.on('Fetch.requestPaused', (request: Paused) => {
    // A page that was left meanwhile needs no answer.
    void answer(target, request, options).catch(() => undefined);
  });
  await target.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
}

async function answer(
  target: Session,
  { requestId, request, resourceType, frameId }: Paused,
  { schemes, parts, isMainFrame, isLoading, mayNavigate }: RequestsOptions,
): Promise<unknown> {
  const url = schemes.toApp(request.url);
  const fail = (errorReason: string): Promise<unknown> =>
    target.send('Fetch.failRequest', { requestId, errorReason });
  // "No content" leaves the page as it is; an error would show a page of Chromium's.
  const answerNothing = (): Promise<unknown> =>
    target.send('Fetch.fulfillRequest', { requestId, responseCode: 204 });
  // A browser asks for one of each site, a window of Electron does not.
  if (new URL(url).pathname === '/favicon.ico') return answerNothing();
  const isMain = isMainFrame(frameId);
  if (resourceType === 'Document' && !(isMain && isLoading(url)) && !mayNavigate(url, isMain))
    return answerNothing();
  const { beforeRequest } = parts;
  const { method, headers } = request;
  const { cancel = false } = await new Promise<Electron.CallbackResponse>((resolve) => {
    if (beforeRequest === null) resolve({});
    else beforeRequest({ url, method, resourceType, frame: null }, resolve);
  });
  if (cancel) return fail('BlockedByClient');
  const handler = parts.schemes.get(new URL(url).protocol.slice(0, -1));
  // Nobody answers at the proxy.
  if (handler === undefined) return fail('ConnectionFailed');
  const response = await Promise.resolve(handler(new Request(url, { method, headers }))).catch(() =>
    Response.error(),
  );
  if (response.type === 'error') return fail('Failed');
  return target.send('Fetch.fulfillRequest', {
    requestId,
    responseCode: response.status,
    responseHeaders: [...response.headers].map(([name, value]) => ({ name, value })),
    body: Buffer.from(await response.arrayBuffer()).toString('base64'),
  });
}
