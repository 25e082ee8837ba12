-- Up to when a consumer has heard all that a topic's sender had committed: by marks that the sender's relay
-- puts behind everything it has sent, one per partition. While anything of the topic is parked no mark
-- counts.
CREATE TABLE heard_until (
  consumer text NOT NULL,
  topic text NOT NULL,
  partition int NOT NULL,
  partition_count int NOT NULL CHECK (partition_count > partition),
  heard_until timestamptz NOT NULL,
  PRIMARY KEY (consumer, topic, partition)
);
