import type { Failure } from '../../../electron/contract/errors.ts';
import type { Story, StoryQuery } from '../../../electron/contract/models/story.ts';
import type { Api } from '../../lib/api.ts';

/** The story of one token: what was found, or how far the search is. */
export class TokenStory {
  found = $state.raw<Story | null>(null);
  /** Between 0 and 1; null where nothing is searched. */
  share = $state<number | null>(null);
  stopped = $state(false);
  failure = $state.raw<Failure | null>(null);
  /** Name of the file that was written last. */
  saved = $state<string | null>(null);
  readonly #api: Api;
  readonly #unlisten: () => void;
  #turn = 0;

  constructor(api: Api) {
    this.#api = api;
    this.#unlisten = api.on('story.progress', ({ share }) => {
      if (this.share !== null) this.share = share;
    });
  }

  async look(query: StoryQuery): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.found = null;
    this.share = 0;
    this.stopped = false;
    this.failure = null;
    this.saved = null;
    const outcome = await this.#api.call('story.look', query);
    // Another one was begun.
    if (turn !== this.#turn) return;
    this.share = null;
    if (outcome.ok) this.found = outcome.value;
    else if (outcome.failure.code === 'service.cancelled') this.stopped = true;
    else this.failure = outcome.failure;
  }

  async stop(): Promise<void> {
    await this.#api.call('story.stop', {});
  }

  async save(): Promise<void> {
    const outcome = await this.#api.call('story.save', {});
    this.failure = outcome.ok ? null : outcome.failure;
    if (outcome.ok) this.saved = outcome.value?.name ?? this.saved;
  }

  close(): void {
    this.#turn += 1;
    this.#unlisten();
    if (this.share !== null) void this.stop();
  }
}
