/** Lets one loop sleep until something it looks at may have changed. A ring that nobody waits for is lost. */
export interface Signal {
  heard(): Promise<void>;
  ring(): void;
}

export function createSignal(): Signal {
  let wake = (): void => undefined;
  return {
    heard: () => new Promise<void>((resolve) => (wake = resolve)),
    ring: () => wake(),
  };
}
