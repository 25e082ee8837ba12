import { Page } from "../../ui/page.tsx";
import { Setup } from "./setup.tsx";
import { texts } from "./texts.ts";

/** Where an account stands: what is missing first. */
const Overview = () => (
  <Page title={texts.title}>
    <Setup />
  </Page>
);
export default Overview;
