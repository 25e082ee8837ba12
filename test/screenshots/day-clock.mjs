// Preloaded into the product to set the dates shown in screenshots. The clock starts at
// PICTURES_BEGIN_AT, and each SIGUSR2 sets it to the same time on the next day. Timers are not
// affected.
const firstDayStartMs = Date.parse(process.env.PICTURES_BEGIN_AT);
const dayMs = 86_400_000;
const RealDate = Date;
let dayIndex = 0;
let daySetAtMs = RealDate.now();

const now = () => firstDayStartMs + dayIndex * dayMs + RealDate.now() - daySetAtMs;

globalThis.Date = class extends RealDate {
  constructor(...args) {
    super(...(args.length === 0 ? [now()] : args));
  }
  static now() {
    return now();
  }
};

process.on("SIGUSR2", () => {
  dayIndex += 1;
  daySetAtMs = RealDate.now();
  process.stderr.write(`it is day ${dayIndex}\n`);
});
