"""Keep: memory over disk, one journal for all processes. What is kept is `entry`'s business."""
