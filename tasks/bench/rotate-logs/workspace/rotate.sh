#!/bin/sh
# rotate.sh DIRECTORY KEEP: rotate the logs of a directory.
cd $1
for log in `ls *.log`; do
    for number in `ls $log.* | sed 's/.*\.//' | sort`; do
        mv $log.$number $log.`expr $number + 1`
    done
    mv $log $log.1
    rm -f $log.$2
    touch $log
done
