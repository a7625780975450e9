import type { Frame, Page } from 'playwright-core';
import type { Sender } from '../../electron/ipc/router.ts';
import type { EventName, EventPayload } from '../../electron/contract/calls.ts';
import { bindingName, type Events, type ToPlatform } from './messages.ts';
import type { Router } from '../../electron/platform/platform.ts';

type Queued = NonNullable<Events>[number];
/** A window that stopped asking must not fill the app's memory. */
const maxQueued = 10_000;

export interface Channel {
  readonly serve: (router: Router) => void;
  readonly send: <E extends EventName>(event: E, payload: EventPayload<E>) => void;
}

export interface ChannelListeners {
  /** The window lost the focus or was hidden. */
  readonly blur: () => void;
  /** Every answer and event, as it leaves. */
  readonly outward: (message: string) => void;
}

/**
 * Calls and events between page and app over one Playwright binding, in JSON. Who asks is known from the binding's
 * source frame, not from what the message says. Events wait for the page's standing question, so they travel in
 * batches and the page needs no receiver that others could call.
 */
export async function openChannel(page: Page, origin: string, listeners: ChannelListeners): Promise<Channel> {
  // The window may be open before the app is: its calls wait until then.
  const { promise: served, resolve: serve } = Promise.withResolvers<Router>();
  let queue: Queued[] = [];
  let asked: ((events: Events) => void) | null = null;

  const flush = (): void => {
    if (asked === null || queue.length === 0) return;
    asked(queue);
    asked = null;
    queue = [];
  };

  async function answer(frame: Frame, message: ToPlatform): Promise<unknown> {
    const sender: Sender = { origin: originOf(frame), isMainFrame: frame === page.mainFrame() };
    if (message.kind === 'call') {
      const router = await served;
      return router(sender, message.channel.replace(/^call:/, ''), message.payload);
    }
    if (!sender.isMainFrame || sender.origin !== origin) return null;
    if (message.kind === 'blur') {
      listeners.blur();
      return null;
    }
    asked?.([]);
    return new Promise<Events>((resolve) => {
      asked = resolve;
      flush();
    });
  }

  await page.exposeBinding(bindingName, async ({ frame }, message: string) => {
    const text = JSON.stringify(await answer(frame, JSON.parse(message) as ToPlatform));
    listeners.outward(text);
    return text;
  });

  return {
    serve,
    send(event, payload) {
      queue.push({ channel: `event:${event}`, payload });
      if (queue.length > maxQueued) queue.shift();
      setImmediate(flush);
    },
  };
}

function originOf(frame: Frame): string {
  return URL.canParse(frame.url()) ? new URL(frame.url()).origin : 'null';
}
