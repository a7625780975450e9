import { setTimeout as wait } from 'node:timers/promises';
import { longestTurn } from '../support/longest-turn.ts';
import { cpuMs, median } from './figures.ts';

export interface Step {
  /** The longest of the event loop, in processor time of the thread. */
  readonly turn: number;
  readonly ms: number;
  /** By how much longer than usual this thread was at work during a reveal asked meanwhile: what it waited for. */
  readonly revealBehind: number;
  /** The same by the clock, which other programs and the disk change too. */
  readonly revealBeyond: number;
  /** The code that it failed with. */
  readonly failure?: string;
}

export interface Steps {
  /** Does one thing while values are revealed one after the other. What it throws is its failure. */
  readonly step: (name: string, act: () => Promise<unknown>) => Promise<void>;
  readonly done: Readonly<Record<string, Step>>;
}

interface Timed {
  readonly ms: number;
  readonly busyMs: number;
}

const threadMs = (): number => cpuMs(process.threadCpuUsage());

const usualReveals = 20;
/** A person takes longer; so that one is always under way when a turn is long. */
const pauseMs = 5;

export async function createSteps(reveal: () => Promise<void>): Promise<Steps> {
  async function timedReveal(): Promise<Timed> {
    const [started, before] = [performance.now(), threadMs()];
    await reveal();
    return { ms: performance.now() - started, busyMs: threadMs() - before };
  }
  await reveal();
  const usually: Timed[] = [];
  while (usually.length < usualReveals) {
    usually.push(await timedReveal());
    await wait(pauseMs);
  }
  const usual = {
    ms: median(usually.map(({ ms }) => ms)),
    busyMs: median(usually.map(({ busyMs }) => busyMs)),
  };
  const done: Record<string, Step> = {};
  return {
    done,
    async step(name, act) {
      let isOver = false;
      const slowest = { ms: 0, busyMs: 0 };
      const revealing = async (): Promise<void> => {
        do {
          const timed = await timedReveal();
          slowest.ms = Math.max(slowest.ms, timed.ms);
          slowest.busyMs = Math.max(slowest.busyMs, timed.busyMs);
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
      done[name] = {
        ...{ turn, ms },
        revealBehind: slowest.busyMs - usual.busyMs,
        revealBeyond: slowest.ms - usual.ms,
        ...(failure !== undefined && { failure }),
      };
      if (process.env['STEPS'] !== undefined) process.stderr.write(`${name} ${JSON.stringify(done[name])}\n`);
    },
  };
}
