import { setTimeout as wait } from 'node:timers/promises';
import { longestTurn } from '../support/longest-turn.ts';
import { median } from './figures.ts';

export interface Step {
  /** The longest of the event loop, in processor time of the thread. */
  readonly turn: number;
  readonly ms: number;
  /** By how much the slowest reveal asked meanwhile took longer than usual, by the clock. */
  readonly revealBeyond: number;
  /** The code that it failed with. */
  readonly failure?: string;
}

export interface Steps {
  /** Does one thing while values are revealed one after the other. What it throws is its failure. */
  readonly step: (name: string, act: () => Promise<unknown>) => Promise<void>;
  readonly done: Readonly<Record<string, Step>>;
}

const usualReveals = 20;
/** A person takes longer; so that one is always under way when a turn is long. */
const pauseMs = 5;

export async function createSteps(reveal: () => Promise<void>): Promise<Steps> {
  async function timedReveal(): Promise<number> {
    const started = performance.now();
    await reveal();
    return performance.now() - started;
  }
  await reveal();
  const usually: number[] = [];
  while (usually.length < usualReveals) {
    usually.push(await timedReveal());
    await wait(pauseMs);
  }
  const usual = median(usually);
  const done: Record<string, Step> = {};
  return {
    done,
    async step(name, act) {
      let isOver = false;
      let slowest = 0;
      const revealing = async (): Promise<void> => {
        do {
          slowest = Math.max(slowest, await timedReveal());
          await wait(pauseMs);
        } while (!isOver);
      };
      const started = performance.now();
      let failure: string | undefined;
      let ms = 0;
      const turn = await longestTurn(async () => {
        const asked = revealing();
        await act().catch((error: unknown) => {
          failure = error instanceof Error ? error.message : String(error);
        });
        ms = performance.now() - started;
        isOver = true;
        await asked;
      });
      done[name] = { turn, ms, revealBeyond: slowest - usual, ...(failure !== undefined && { failure }) };
      if (process.env['STEPS'] !== undefined) process.stderr.write(`${name} ${JSON.stringify(done[name])}\n`);
    },
  };
}
