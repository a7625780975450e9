/** Listeners of one kind of event. */
export interface Emitter<T = void> {
  /**
   * Calls every listener that is subscribed now, in the order of subscription. A listener that throws does not keep
   * the others from being called; the first error is thrown afterwards.
   */
  emit(value: T): void;
  /** Returns the function that unsubscribes. */
  on(listener: (value: T) => void): () => void;
  readonly size: number;
  clear(): void;
}

export function createEmitter<T = void>(): Emitter<T> {
  // Wrapped: a function that is subscribed twice is called twice, and each subscription ends by itself.
  const subscriptions = new Set<{ readonly listener: (value: T) => void }>();
  return {
    emit(value) {
      const errors: unknown[] = [];
      for (const subscription of [...subscriptions]) {
        // A listener called before may have removed it.
        if (!subscriptions.has(subscription)) continue;
        try {
          subscription.listener(value);
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw errors[0];
    },
    on(listener) {
      const subscription = { listener };
      subscriptions.add(subscription);
      return () => void subscriptions.delete(subscription);
    },
    get size() {
      return subscriptions.size;
    },
    clear: () => subscriptions.clear(),
  };
}
