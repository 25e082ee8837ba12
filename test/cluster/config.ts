import * as z from "zod";
import { CommaList } from "@payment-links/runtime";

/** The settings of the cluster tests. All addresses must be reachable from pods. */
export const clusterConfig = z.object({
  /**
   * A database URL with a role that is allowed to create roles and databases. It is used to create
   * a database and roles for this run only.
   */
  DATABASE_URL: z.url(),
  KAFKA_BROKERS: CommaList,
  KAFKA_REPLICATION_FACTOR: z.coerce.number().int().min(1).default(1),
  REDIS_URL: z.url(),
  /**
   * The registry from which the nodes pull the images, and the tag of the images. Without a
   * registry, the images must already be on the nodes.
   */
  IMAGE_REGISTRY: z.string().default(""),
  IMAGE_TAG: z.string().default("1.0.0"),
  /** The tag of images with one additional migration, built by `next-version/Dockerfile`. */
  NEXT_IMAGE_TAG: z.string().default(""),
  /** The last released chart (a folder or an archive), and the tag of its images. */
  LAST_CHART: z.string().default(""),
  LAST_IMAGE_TAG: z.string().default("1.0.0"),
  /**
   * The command that stops and starts the servers. The tests append `stop` or `start`, and then
   * `postgres`, `kafka` or `redis`.
   */
  SERVERS_COMMAND: z.string().default(""),
  NAMESPACE: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/)
    .default("payment-links-test"),
  /** Whether to keep the release after the tests. */
  KEEP: z.enum(["0", "1"]).default("0"),
});
export type ClusterConfig = z.output<typeof clusterConfig>;
