import * as z from "zod";
import { CommaList } from "@payment-links/runtime";

/** What the cluster's tests are told; addresses are as pods reach them. */
export const clusterConfig = z.object({
  /**
   * A role that may create roles and databases; a database and roles of this run's own are made.
   */
  DATABASE_URL: z.url(),
  KAFKA_BROKERS: CommaList,
  KAFKA_REPLICATION_FACTOR: z.coerce.number().int().min(1).default(1),
  REDIS_URL: z.url(),
  /** Where nodes pull the images from, and their tag; without a registry they are on the nodes. */
  IMAGE_REGISTRY: z.string().default(""),
  IMAGE_TAG: z.string().default("1.0.0"),
  /** The tag of images with a migration more, made by `next-version/Dockerfile`. */
  NEXT_IMAGE_TAG: z.string().default(""),
  /**
   * What stops and starts the servers, followed by `stop` or `start` and `postgres`, `kafka` or
   * `redis`.
   */
  SERVERS_COMMAND: z.string().default(""),
  NAMESPACE: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/)
    .default("payment-links-test"),
  /** Leaves the release where it is when all is over. */
  KEEP: z.enum(["0", "1"]).default("0"),
});
export type ClusterConfig = z.output<typeof clusterConfig>;
