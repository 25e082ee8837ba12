-- How often a consumer had to begin a partition anew because its log had not what came next. What a member
-- holds from before such a reset lies at offsets that now belong to other records.
ALTER TABLE positions ADD COLUMN reset_count int NOT NULL DEFAULT 0;
