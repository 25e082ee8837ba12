-- The browser and operating system of a session, such as "Chrome on macOS", so that its user can recognize it. Only
-- names of a fixed list are stored, not the user agent itself. Null if unknown, and in older sessions.
ALTER TABLE sessions ADD COLUMN device text CHECK (length(device) <= 60);
