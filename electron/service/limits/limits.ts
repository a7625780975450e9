/*
 * The figures of this folder, each with what it promises. `pacing` decides when a request may leave, `rate-control` how
 * fast, `health` what answers say about the service, `retries` who may ask again, `transfers` the day's count. Before and
 * after a change of one: `npm run bench` and `npm run faults`, which measure against services that refuse, stall and
 * fail.
 */

/** Never more than the limit in any second of the service, and no standing still below it. */
export const rate = {
  /** A second and a margin: requests that leave evenly may arrive bunched, and the service counts arrivals. */
  secondMs: 1_010,
  /** Before the first refusal: requests in flight at the start, one more for each answer (TCP slow start). */
  firstFlight: 4,
  /** Of the rate the service takes: requests that leave evenly arrive less evenly. */
  comfortShare: 0.95,
  /** Late timers may catch up by the requests of so much time. */
  catchUpSeconds: 0.25,

  /** After a refusal: at half the rate for so long, then up to just under what the service took. */
  halfRateMs: 300,
  rampMs: 250,
  /**
   * There for so long, twice as long after each refusal at about the same rate, then up. An account is shared: the longer
   * this is, the longer a client stays slow after others have ended.
   */
  firstPlateauMs: 30_000,
  maxPlateauMs: 60_000,
  /** Beyond it: by this share of the rate, and twice as much with each second more; and by this many requests at least. */
  growthShare: 0.05,
  minGrowth: 0.2,
  /** The plateau ends where the service said for so long that this share of its second is left: others have ended. */
  roomShare: 0.1,
  roomMs: 500,
  /** Departures this close to the refused one may have arrived before it; further apart where answers take long. */
  minJitterMs: 10,
  maxJitterMs: 100,

  /** A service that gets slow is asked less, before it refuses. Slow: so many times the usual time, and so much longer. */
  slowFactor: 4,
  slowMs: 250,
  /** Then to this share of the rate, on a short plateau, and not again before this time is over. */
  slowShare: 0.8,
  slowPlateauMs: 5_000,
  slowEveryMs: 2_000,
  /** The first answers take longer: connections and handshakes are part of their time. */
  coldAnswers: 32,
};

/** A service that refuses or fails is left alone for as long as it asks, or longer each time. */
export const pauses = {
  /** Failures with no success in between, until nothing is sent for a while. */
  failuresToOpen: 5,
  firstOpenMs: 1_000,
  maxOpenMs: 30_000,
  /** After a 429 that names no time. */
  firstBusyMs: 250,
  maxBusyMs: 30_000,
  /** Clients that were told the same time don't come back at once: up to a tenth of it later, and this at most. */
  maxBusyJitterMs: 250,
  maxFailingJitterMs: 1_000,
  /** What a person is told to wait where no pause says it. */
  retryAfterMs: 2_000,
  /** A header can't stop the app for longer. */
  maxByHeaderMs: 86_400_000,
  /** A 429 that lasts longer than this is about the day's transfers, not about the second. */
  quotaFromMs: 60_000,
  /** A reset this near means that the reported limit is one of the second. */
  maxSecondResetMs: 2_500,
};

/** The service's time of day is known, whatever this machine's clock says. */
export const timeOfDay = {
  /** A step back of the service's clock beyond a second's rounding: it is learned again. */
  stepMs: 2_000,
  /** A smaller difference of the clocks explains nothing. */
  minSkewMs: 60_000,
};

/** The requests that arrive stay within 1.1 times those meant, whatever fails. */
export const retryBudget = {
  /** Earned by each request that is no retry. */
  share: 0.1,
  /** Available before any were earned: a lone lookup may be tried again. */
  loan: 5,
  /** The loan is renewed by one retry in this time, for people, who send little. */
  loanRepaidMs: 60_000,
  /** Budget does not carry over beyond this, so an outage can't spend an hour's saved retries. */
  maxBalance: 100,
  /** Of one request, after failures and after damaged answers. */
  maxRetries: 3,
  maxDamagedRepeats: 2,
  /** The wait before a retry is random, below a bound that doubles each time. */
  minBackoffMs: 50,
  firstBackoffMs: 250,
  maxBackoffMs: 10_000,
};

/** No 24 hours hold more transfers than the day's limit, over restarts too. */
export const day = {
  hours: 24,
  hourMs: 3_600_000,
  /** A crash forgets no more than this. */
  saveAfterMs: 1_000,
};

/** How long a call waits in pauses before it gives up: a person is told soon, a batch waits. */
export const patience = {
  interactiveMs: 15_000,
  batchMs: 120_000,
  /** Opening a session. */
  sessionMs: 60_000,
};
