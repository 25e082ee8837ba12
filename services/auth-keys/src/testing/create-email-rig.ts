import { createMetrics } from "@payment-links/runtime";
import type { ServiceContext } from "@payment-links/process";
import { createEmailSender } from "../delivery/smtp.ts";
import type { EmailConfig } from "../domain/email-config.ts";
import { sendEmails } from "../jobs/send-emails.ts";
import { createCounters } from "../metrics.ts";
import { createRig } from "./create-rig.ts";
import { findConfirmationToken, startSmtpServer } from "./start-smtp-server.ts";

/** Creates the job that sends emails, with its own metrics. It runs only when it is called. */
export const createEmailJob = (
  context: Pick<ServiceContext, "pool" | "clock" | "log" | "baseUrl">,
  config: EmailConfig,
) => {
  const metrics = createMetrics("emails");
  const job = sendEmails({
    ...context,
    counters: createCounters(metrics),
    sendEmail: createEmailSender(config),
    random: () => 0,
  });
  return { job, metrics };
};

export const notificationsPath = "/console/api/account/notifications";

/** Creates the service with a real SMTP server on loopback. Emails are sent only by `sendDue`. */
export const createEmailRig = async () => {
  const smtp = await startSmtpServer();
  const rig = await createRig({ email: smtp.config });
  const { job, metrics } = createEmailJob(rig.context, smtp.config);

  /** Sends everything that is due, and returns what the server received. */
  const sendDue = async () => {
    const receivedBefore = smtp.emails.length;
    while ((await job.run()) === true) continue;
    return smtp.emails.slice(receivedBefore);
  };

  const setAddress = (cookie: string, address: string) =>
    rig.call("POST", `${notificationsPath}/address`, { cookie, body: { address } });

  const confirm = (cookie: string, token: string) =>
    rig.call("POST", `${notificationsPath}/address/confirm`, { cookie, body: { token } });

  let addressCount = 0;
  return {
    ...rig,
    smtp,
    job,
    sendDue,
    setAddress,
    confirm,
    /** Returns how many attempts had an outcome. */
    countOutcome: async (outcome: string): Promise<number> => {
      const counter = await metrics.getSingleMetric("payment_links_emails_total")?.get();
      const values = counter?.values.filter(({ labels }) => labels["outcome"] === outcome) ?? [];
      return values.reduce((sum, { value }) => sum + value, 0);
    },
    /** Creates a signed-in account with a confirmed address. */
    signUpWithAddress: async () => {
      const account = await rig.signUp();
      addressCount += 1;
      const address = `owner-${addressCount}@example.com`;
      await setAddress(account.cookie, address);
      const [email] = await sendDue();
      if (email === undefined) throw new Error("no confirmation email was sent");
      const { status } = await confirm(account.cookie, findConfirmationToken(email));
      if (status !== 200) throw new Error(`the address was not confirmed: ${status}`);
      return { ...account, address };
    },
    close: async () => {
      await rig.close();
      await smtp.close();
    },
  };
};
