/**
 * The longest time, in milliseconds of this thread's processor, that `act` kept the event loop to itself. Rejects as
 * `act` does.
 */
export async function longestTurn(act: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  const used = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let before = used();
  const tick = (): void => {
    const now = used();
    longest = Math.max(longest, now - before);
    before = now;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  try {
    await act();
  } finally {
    isOver = true;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return longest;
}
