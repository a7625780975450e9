import type { EventName } from '../../electron/contract/calls.ts';

/** The one function the platform puts in the page for the preload, which takes it away before the page's script runs. */
export const bindingName = '__tokendeskPlatform';
/** Under this symbol the shim hands a stashed File to the debugging protocol, which knows its path. */
export const stashKey = 'tokendesk.files';

/** What the shim of `electron` sends to the Chromium platform, as JSON. */
export type ToPlatform =
  | { readonly kind: 'call'; readonly channel: string; readonly payload: unknown }
  /** Answered when there are events: the page always has one such request open. */
  | { readonly kind: 'events' }
  | { readonly kind: 'blur' };

/** The answer to `events`; null ends the requests. */
export type Events = readonly { readonly channel: `event:${EventName}`; readonly payload: unknown }[] | null;
