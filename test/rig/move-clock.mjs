// Preloaded into a service, this lets a test move the service's clock: SIGUSR2 puts it 45 s ahead.
// Timers stay as they are.
const movedByMs = 45_000;
const RealDate = Date;
let aheadMs = 0;

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [RealDate.now() + aheadMs] : given));
  }
  static now() {
    return RealDate.now() + aheadMs;
  }
};

process.on("SIGUSR2", () => {
  aheadMs = movedByMs;
});
