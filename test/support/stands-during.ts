import { setImmediate as nextTurn } from 'node:timers/promises';
import { yieldToOthers } from '../../electron/util/turns.ts';

const turns = 10;

/** Whether work that gives way stands while an act waits for `answer`, and goes on afterwards. */
export async function standsDuring(
  act: (answer: Promise<void>) => Promise<unknown>,
  giveWay = yieldToOthers,
): Promise<boolean> {
  const { promise: answer, resolve } = Promise.withResolvers<undefined>();
  const acted = act(answer);
  let goesOn = false as boolean;
  const work = giveWay().then(() => (goesOn = true));
  for (let turn = 0; turn < turns; turn++) await nextTurn();
  const stood = !goesOn;
  resolve(undefined);
  await Promise.all([acted, work]);
  return stood;
}
