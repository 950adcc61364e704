-- Who a provider's subject is here. Subjects are rarely UUIDs, and two issuers may use the same one for two people, so
-- a person is known by issuer and subject together, and gets a user id at first sight that never changes.
--
-- Belongs to no organization, on purpose: who somebody is comes before what he is a member of (a person who is a
-- member of nothing can sign in), and is the same in all of them. When tables are spread over machines by
-- organization, this one is a reference table: small, written once per person, read by its whole key.
--
-- No foreign key from members to here: the local key's tokens name user ids that have no row.

CREATE TABLE user_identity (
    -- Exactly as the settings write it and the tokens' `iss` says it.
    issuer     text        COLLATE "C" NOT NULL CHECK (char_length(issuer) BETWEEN 1 AND 255),
    subject    text        COLLATE "C" NOT NULL CHECK (char_length(subject) BETWEEN 1 AND 255),
    user_id    uuid        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now() CHECK (created_at >= '1970-01-01Z' AND created_at < '2200-01-01Z'),
    PRIMARY KEY (issuer, subject)
);

-- One person has one identity: nobody can be given somebody else's id.
CREATE UNIQUE INDEX user_identity_by_user ON user_identity (user_id);
