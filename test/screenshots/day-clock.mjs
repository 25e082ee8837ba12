// Preloaded into the product, this gives it the days of the pictures: it begins on the first one, and
// SIGUSR2 puts it to the same time of the next. Timers stay as they are.
const beginsAtMs = Date.parse(process.env.PICTURES_BEGIN_AT);
const dayMs = 86_400_000;
const RealDate = Date;
let day = 0;
let setAtMs = RealDate.now();

const now = () => beginsAtMs + day * dayMs + RealDate.now() - setAtMs;

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [now()] : given));
  }
  static now() {
    return now();
  }
};

process.on("SIGUSR2", () => {
  day += 1;
  setAtMs = RealDate.now();
  process.stderr.write(`it is day ${day}\n`);
});
