/**
 * Runs tasks one at a time, in the order they were added. The answer is the task's own: a task that rejects does not
 * stop those behind it. A task must not wait for one it adds itself.
 */
export type SerialQueue = <T>(task: () => Promise<T>) => Promise<T>;

export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = last.then(task);
    last = result.catch(() => undefined);
    return result;
  };
}
