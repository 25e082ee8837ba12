// Preloaded into a service. SIGUSR2 moves the service's clock 45 s ahead. Timers are not affected.
const clockShiftMs = 45_000;
const RealDate = Date;
let offsetMs = 0;

globalThis.Date = class extends RealDate {
  constructor(...args) {
    super(...(args.length === 0 ? [RealDate.now() + offsetMs] : args));
  }
  static now() {
    return RealDate.now() + offsetMs;
  }
};

process.on("SIGUSR2", () => {
  offsetMs = clockShiftMs;
});
