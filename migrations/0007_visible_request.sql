-- Who may see which request, said once for every read: lists, counts, one request, its history and its versions.
-- The rule is that of `Member::may_see`; a test compares the two over all cases.

CREATE VIEW visible_request AS
SELECT r.organization_id, me.user_id AS viewer_id,
       r.id, r.applicant_id, r.title, r.description, r.amount, r.currency, r.status, r.version,
       r.content_version, r.content_hash, r.decision_reason, r.created_at, r.updated_at, r.submitted_at, r.decided_at,
       r.last_action, r.last_actor_id, r.last_actor_name, r.chain_hash,
       me.display_name AS viewer_name, me.can_approve AS viewer_can_approve, me.is_admin AS viewer_is_admin,
       me.version AS viewer_version, me.created_at AS viewer_since,
       applicant.display_name AS applicant_name,
       r.status = 'pending' AND me.can_approve AND r.applicant_id <> me.user_id AS can_decide
FROM organization_member me
JOIN approval_request r ON r.organization_id = me.organization_id
JOIN organization_member applicant
  ON applicant.organization_id = r.organization_id AND applicant.user_id = r.applicant_id
WHERE me.is_active
  AND (r.applicant_id = me.user_id
       OR (r.submitted_at IS NOT NULL
           AND (me.can_approve OR me.is_admin
                OR EXISTS (SELECT FROM approval_history h
                           WHERE h.organization_id = r.organization_id AND h.actor_id = me.user_id
                             AND h.request_id = r.id))));
