-- Where the images of each account lie, as last heard. The checkout's pages show them through this
-- service, which fetches nothing else for anybody.
CREATE TABLE owner_images (
  account_id text COLLATE "C" PRIMARY KEY,
  -- The account's own: a lower one is older.
  version int NOT NULL,
  profile_image text,
  background_image text
);
